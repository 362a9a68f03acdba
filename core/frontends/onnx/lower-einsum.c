/* SPDX-License-Identifier: Apache-2.0 */
/* Einsum: each operand's dimensions carry labels (letters, and numbered ones for "..."); operands
 * are multiplied two at a time by dot_general, each label summed as soon as nothing needs it any
 * more. */
#include "core/frontends/onnx/onnx-lower.h"

/* Labels are 0..51 for letters, ELLIPSIS + i for the i-th dimension of "..." counted from its end.
 * */
#define ELLIPSIS 64
#define N_LABELS (ELLIPSIS + GANTRY_MAX_RANK)

typedef struct
{
  guint32 id;
  guint n;
  guint8 labels[GANTRY_MAX_RANK];
} Term;

static gint
label_of (char c)
{
  return c >= 'a' && c <= 'z' ? c - 'a' + 26 : c >= 'A' && c <= 'Z' ? c - 'A' : -1;
}

/* Reads the labels of "ab...c"; @n_ellipsis dimensions stand for the dots, which may be there once. FALSE when it is
 * malformed. */
static gboolean
read_labels (const char *text, guint n_ellipsis, Term *term)
{
  gboolean dots = FALSE;

  term->n = 0;
  for (gsize i = 0; text[i] != '\0'; i++)
    {
      gint label = label_of (text[i]);

      if (label >= 0 && term->n < GANTRY_MAX_RANK)
        term->labels[term->n++] = (guint8) label;
      else if (!dots && g_str_has_prefix (text + i, "...") && term->n + n_ellipsis <= GANTRY_MAX_RANK)
        {
          for (guint k = n_ellipsis; k > 0; k--)
            term->labels[term->n++] = (guint8) (ELLIPSIS + k - 1);
          dots = TRUE;
          i += 2;
        }
      else
        return FALSE;
    }
  return TRUE;
}

/* The equation without white space, which may stand anywhere in it. Returns: (transfer full) */
static char *
read_equation (GantryLower *l)
{
  GString *equation = g_string_new (NULL);

  for (const char *p = gantry_lower_string (l, "equation", ""); *p != '\0'; p++)
    if (!g_ascii_isspace (*p))
      g_string_append_c (equation, *p);
  return g_string_free (equation, FALSE);
}

/* The labels of each operand; of "" (one scalar) there is one, too. */
static char **
split_operands (const char *text)
{
  static const char *const scalar[] = { "", NULL };

  return *text != '\0' ? g_strsplit (text, ",", -1) : g_strdupv ((char **) scalar);
}

static gint
find_label (const Term *term, guint8 label)
{
  for (guint i = 0; i < term->n; i++)
    if (term->labels[i] == label)
      return (gint) i;
  return -1;
}

static void
drop_label (Term *term, guint at)
{
  for (guint i = at + 1; i < term->n; i++)
    term->labels[i - 1] = term->labels[i];
  term->n--;
}

/* A label twice in one operand is a diagonal: everything else is made 0 and summed away. */
static void
take_diagonals (GantryLower *l, Term *term)
{
  for (guint j = 1; j < term->n; j++)
    {
      gint i = find_label (term, term->labels[j]);
      gint64 axis = j;
      GantryDim dims[GANTRY_MAX_RANK];
      guint rank = gantry_lower_dims (l, term->id, dims);
      guint32 same;

      if (i < 0 || (guint) i >= j || l->failed)
        continue;
      if (dims[i] != dims[j])
        {
          gantry_lower_invalid (l, "a repeated label has two extents");
          return;
        }
      same = gantry_builder_compare (l->b, "EQ", gantry_builder_iota (l->b, GANTRY_I64, rank, dims, i), gantry_builder_iota (l->b, GANTRY_I64, rank, dims, j));
      term->id = gantry_builder_select (l->b, same, term->id, gantry_builder_like (l->b, term->id, 0));
      term->id = gantry_builder_reduce_axes (l->b, "add", term->id, &axis, 1, FALSE);
      drop_label (term, j--);
    }
}

/* Sums the labels of @term that @needed does not have. */
static void
sum_unneeded (GantryLower *l, Term *term, const gboolean *needed)
{
  for (gint i = (gint) term->n - 1; i >= 0; i--)
    if (!needed[term->labels[i]])
      {
        gint64 axis = i;

        term->id = gantry_builder_reduce_axes (l->b, "add", term->id, &axis, 1, FALSE);
        drop_label (term, (guint) i);
      }
}

/* Removes from @term the dimensions of extent 1 that @other has at another extent: they broadcast.
 * */
static void
drop_broadcast (GantryLower *l, Term *term, const Term *other)
{
  for (gint i = (gint) term->n - 1; i >= 0; i--)
    {
      gint j = find_label (other, term->labels[i]);
      gint64 axis = i;

      if (j >= 0 && gantry_lower_dim (l, term->id, i) == 1 && gantry_lower_dim (l, other->id, j) != 1)
        {
          term->id = gantry_builder_reduce_axes (l->b, "add", term->id, &axis, 1, FALSE);
          drop_label (term, (guint) i);
        }
    }
}

/* @a becomes the product of both, its labels ordered batching, free of a, free of b. */
static void
multiply (GantryLower *l, Term *a, Term *b, const gboolean *needed)
{
  gint64 a_batch[GANTRY_MAX_RANK], b_batch[GANTRY_MAX_RANK], a_sum[GANTRY_MAX_RANK], b_sum[GANTRY_MAX_RANK];
  guint n_batch = 0, n_sum = 0;
  Term product = { 0 };

  drop_broadcast (l, a, b);
  drop_broadcast (l, b, a);
  if (a->n + b->n > 2 * GANTRY_MAX_RANK)
    return;
  for (guint i = 0; i < a->n; i++)
    {
      gint j = find_label (b, a->labels[i]);

      if (j >= 0 && needed[a->labels[i]])
        {
          a_batch[n_batch] = i;
          b_batch[n_batch++] = j;
          product.labels[product.n++] = a->labels[i];
        }
      else if (j >= 0)
        {
          a_sum[n_sum] = i;
          b_sum[n_sum++] = j;
        }
    }
  for (guint side = 0; side < 2; side++)
    {
      const Term *term = side == 0 ? a : b;
      const Term *other = side == 0 ? b : a;

      for (guint i = 0; i < term->n; i++)
        if (find_label (other, term->labels[i]) < 0)
          {
            if (product.n == GANTRY_MAX_RANK)
              {
                gantry_lower_fail (l, "an intermediate product has too many dimensions");
                return;
              }
            product.labels[product.n++] = term->labels[i];
          }
    }
  product.id = gantry_lower_dot (l, a->id, b->id, a_batch, b_batch, n_batch, a_sum, b_sum, n_sum, GANTRY_ELEMENT_NONE);
  *a = product;
}

/* How many dimensions "..." stands for: the most that any operand leaves to it. */
static gint
count_ellipsis (GantryLower *l, char **inputs, guint *own)
{
  gint most = 0;

  for (guint i = 0; i < l->n_in; i++)
    {
      gint letters = 0;

      for (const char *p = inputs[i]; *p != '\0'; p++)
        letters += label_of (*p) >= 0;
      own[i] = strstr (inputs[i], "...") != NULL ? MAX ((gint) gantry_lower_rank (l, gantry_lower_operand (l, i)) - letters, 0) : 0;
      most = MAX (most, (gint) own[i]);
    }
  return most;
}

/* Without "->": the dots, then every letter that occurs once, in alphabetical order. */
static void
implicit_output (const Term *terms, guint n_terms, guint n_ellipsis, Term *output)
{
  guint count[N_LABELS] = { 0 };

  output->n = 0;
  for (guint t = 0; t < n_terms; t++)
    for (guint i = 0; i < terms[t].n; i++)
      count[terms[t].labels[i]]++;
  for (guint k = n_ellipsis; k > 0; k--)
    output->labels[output->n++] = (guint8) (ELLIPSIS + k - 1);
  for (guint label = 0; label < ELLIPSIS; label++)
    if (count[label] == 1 && output->n < GANTRY_MAX_RANK)
      output->labels[output->n++] = (guint8) label;
}

static void
mark_needed (const Term *terms, guint from, guint n_terms, const Term *output, gboolean *needed)
{
  memset (needed, 0, sizeof *needed * N_LABELS);
  for (guint i = 0; i < output->n; i++)
    needed[output->labels[i]] = TRUE;
  for (guint t = from; t < n_terms; t++)
    for (guint i = 0; i < terms[t].n; i++)
      needed[terms[t].labels[i]] = TRUE;
}

static void
contract (GantryLower *l, Term *terms, const Term *output)
{
  gboolean needed[N_LABELS];
  gint64 permutation[GANTRY_MAX_RANK];

  for (guint t = 1; t < l->n_in && !l->failed; t++)
    {
      /* What neither the rest nor the other operand of this product needs is summed before. */
      mark_needed (terms, t, l->n_in, output, needed);
      sum_unneeded (l, &terms[0], needed);
      mark_needed (terms, t + 1, l->n_in, output, needed);
      for (guint i = 0; i < terms[0].n; i++)
        needed[terms[0].labels[i]] = TRUE;
      sum_unneeded (l, &terms[t], needed);
      mark_needed (terms, t + 1, l->n_in, output, needed);
      multiply (l, &terms[0], &terms[t], needed);
    }
  mark_needed (terms, l->n_in, l->n_in, output, needed);
  sum_unneeded (l, &terms[0], needed);
  for (guint i = 0; i < output->n && !l->failed; i++)
    {
      gint at = find_label (&terms[0], output->labels[i]);

      if (at < 0)
        gantry_lower_invalid (l, "a label of the result is in no operand");
      else if (find_label (output, output->labels[i]) != (gint) i)
        gantry_lower_invalid (l, "the result names a label twice");
      permutation[i] = at;
    }
  if (!l->failed)
    l->out[0] = gantry_builder_transpose (l->b, terms[0].id, permutation);
}

static void
einsum (GantryLower *l)
{
  g_autofree char *equation = read_equation (l);
  char *arrow = strstr (equation, "->");
  Term *terms = gantry_arena_new0 (l->arena, Term, l->n_in + 1);
  guint *own = gantry_arena_new0 (l->arena, guint, l->n_in + 1);
  g_auto (GStrv) inputs = NULL;
  Term output = { 0 };
  gint n_ellipsis;

  if (arrow != NULL)
    *arrow = '\0';
  inputs = split_operands (equation);
  if (g_strv_length (inputs) != l->n_in || l->n_in == 0)
    {
      gantry_lower_invalid (l, "the equation does not have %u operands", l->n_in);
      return;
    }
  n_ellipsis = count_ellipsis (l, inputs, own);
  for (guint i = 0; i < l->n_in && !l->failed; i++)
    {
      terms[i].id = gantry_lower_operand (l, i);
      if (!read_labels (inputs[i], own[i], &terms[i]) || terms[i].n != gantry_lower_rank (l, terms[i].id))
        gantry_lower_invalid (l, "'%s' does not fit operand %u", inputs[i], i);
    }
  if (l->failed)
    return;
  if (arrow == NULL)
    implicit_output (terms, l->n_in, (guint) n_ellipsis, &output);
  else if (!read_labels (arrow + 2, (guint) n_ellipsis, &output))
    gantry_lower_invalid (l, "the result '%s' is not understood", arrow + 2);
  for (guint i = 0; i < l->n_in && !l->failed; i++)
    take_diagonals (l, &terms[i]);
  if (!l->failed)
    contract (l, terms, &output);
}

/* clang-format off */
const GantryLowerRule gantry_lower_einsum_rules[] = {
  { "Einsum", einsum, GANTRY_CLASS_CONTRACTION, 0, 0, NULL },
  { NULL },
};
/* clang-format on */
