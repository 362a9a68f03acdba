/* SPDX-License-Identifier: Apache-2.0 */
/* Einstein sums: of any number of operands, from left to right; with an ellipsis, and dimensions that an operand names twice. */
#include "core/frontends/torch/lower-private.h"

/* A dimension of an ellipsis has a digit for a letter, counted from its last one. */
#define ELLIPSIS "..."

typedef struct
{
  guint32 id;
  char letters[GANTRY_MAX_RANK + 1]; /* one for each dimension */
} Operand;

/* The dimensions of @letters that @known has not are summed; those left are named in @kept. */
static guint32
sum_others (AtenLower *l, guint32 x, const char *letters, const char *known, char *kept)
{
  gint64 axes[GANTRY_MAX_RANK];
  guint n = 0, n_kept = 0;

  for (guint i = 0; letters[i] != '\0'; i++)
    if (strchr (known, letters[i]) != NULL)
      kept[n_kept++] = letters[i];
    else
      axes[n++] = i;
  kept[n_kept] = '\0';
  return gantry_builder_reduce_axes (l->b, "add", x, axes, n, FALSE);
}

/* Letters of the result where the equation leaves them out: those that stand once, by the alphabet. */
static void
implied (const char *inputs, char *result, guint most)
{
  guint n = 0;

  for (char c = 'A'; c <= 'z'; c++)
    if (g_ascii_isalpha (c) && strchr (inputs, c) != NULL && strchr (inputs, c) == strrchr (inputs, c) && n < most)
      result[n++] = c;
  result[n] = '\0';
}

/* "i...j" of @rank dimensions, or as many as @ellipsis says; FALSE where they do not fit. */
static gboolean
spread (const char *text, gint rank, guint ellipsis, char *letters)
{
  const char *dots = strstr (text, ELLIPSIS);
  gsize n = strlen (text) - (dots != NULL ? strlen (ELLIPSIS) : 0), at = 0;

  if (rank >= 0)
    ellipsis = (gsize) rank >= n ? (guint) ((gsize) rank - n) : G_MAXUINT;
  if ((dots == NULL && ellipsis != 0 && rank >= 0) || ellipsis > MIN (9, GANTRY_MAX_RANK) || n + ellipsis > GANTRY_MAX_RANK)
    return FALSE;
  for (const char *c = text; *c != '\0';)
    if (c == dots)
      {
        for (guint i = ellipsis; i > 0; i--)
          letters[at++] = (char) ('0' + i - 1);
        c += strlen (ELLIPSIS);
      }
    else if (g_ascii_isalpha (*c))
      letters[at++] = *c++;
    else
      return FALSE;
  letters[at] = '\0';
  return TRUE;
}

/* @given: "ij,j...->i..." without blanks. FALSE where it does not fit the operands. */
static gboolean
read_equation (AtenLower *l, const char *given, Operand *operands, guint n, char *result)
{
  g_auto (GStrv) sides = g_strsplit (given, "->", 2), inputs = g_strsplit (sides[0] != NULL ? sides[0] : "", ",", -1);
  guint ellipsis = 0, at = 0;

  if (g_strv_length (inputs) != n || n < 1)
    return FALSE;
  for (guint i = 0; i < n; i++)
    {
      if (!spread (inputs[i], (gint) gantry_aten_rank (l, operands[i].id), 0, operands[i].letters))
        return FALSE;
      for (const char *c = operands[i].letters; *c != '\0'; c++)
        ellipsis = g_ascii_isdigit (*c) ? MAX (ellipsis, (guint) (*c - '0') + 1) : ellipsis;
    }
  if (sides[1] != NULL)
    {
      if (!spread (sides[1], -1, strstr (sides[1], ELLIPSIS) != NULL ? ellipsis : 0, result))
        return FALSE;
    }
  else
    {
      for (guint i = ellipsis; i > 0; i--)
        result[at++] = (char) ('0' + i - 1);
      implied (sides[0], result + at, GANTRY_MAX_RANK - at);
    }
  for (const char *c = result; *c != '\0'; c++)
    {
      gboolean there = strchr (c + 1, *c) == NULL;

      for (guint i = 0, found = 0; i < n; i++)
        {
          found += strchr (operands[i].letters, *c) != NULL;
          there = there && (i + 1 < n || found > 0);
        }
      if (!there)
        return FALSE;
    }
  return TRUE;
}

static void
drop_letter (char *letters, guint i)
{
  memmove (letters + i, letters + i + 1, strlen (letters + i));
}

/* Of a dimension that is named twice only the diagonal counts. */
static void
take_diagonals (AtenLower *l, Operand *x)
{
  for (guint i = 0; x->letters[i] != '\0'; i++)
    for (char *again; (again = strchr (x->letters + i + 1, x->letters[i])) != NULL;)
      {
        const GantryType *type = gantry_aten_type (l, x->id);
        gint64 second = again - x->letters;
        guint32 here = gantry_builder_compare (l->b, "EQ", gantry_aten_iota (l, type->rank, type->dims, i),
                                               gantry_aten_iota (l, type->rank, type->dims, second));

        x->id = gantry_builder_select (l->b, here, x->id, gantry_builder_like (l->b, x->id, 0));
        x->id = gantry_builder_reduce_axes (l->b, "add", x->id, &second, 1, FALSE);
        drop_letter (x->letters, (guint) second);
      }
}

/* A dimension of 1 goes with any size of that letter: it is left out. */
static void
drop_ones (AtenLower *l, Operand *operands, guint n)
{
  for (guint i = 0; i < n; i++)
    for (guint k = 0; operands[i].letters[k] != '\0';)
      {
        const GantryType *type = gantry_aten_type (l, operands[i].id);
        gboolean wider = FALSE;
        gint64 axis = k;

        for (guint other = 0; other < n && type->dims[k] == 1; other++)
          {
            const char *there = strchr (operands[other].letters, operands[i].letters[k]);

            wider = wider || (there != NULL && gantry_aten_dim (l, operands[other].id, there - operands[other].letters) != 1);
          }
        if (wider)
          {
            operands[i].id = gantry_builder_reduce_axes (l->b, "add", operands[i].id, &axis, 1, FALSE);
            drop_letter (operands[i].letters, k);
          }
        else
          k++;
      }
}

/* Letters of both operands and of the result are batches, those of both alone are contracted: the product has the batches, then what
 * is left of each, in @order. */
static guint32
product_of (AtenLower *l, const guint32 *operands, char letters[2][GANTRY_MAX_RANK + 1], const char *result, char *order)
{
  static const char *const keys[2][2] = { { "lhs_batching_dimensions", "lhs_contracting_dimensions" },
                                          { "rhs_batching_dimensions", "rhs_contracting_dimensions" } };
  GantryAttrList *attrs = gantry_attr_list_new (l->context);
  guint n = 0;

  for (guint i = 0; i < 2; i++)
    {
      gint64 lists[2][GANTRY_MAX_RANK];
      guint counts[2] = { 0 };

      for (const char *c = letters[0]; *c != '\0'; c++)
        if (strchr (letters[1], *c) != NULL)
          {
            gboolean contracted = strchr (result, *c) == NULL;

            lists[contracted][counts[contracted]++] = strchr (letters[i], *c) - letters[i];
            if (i == 0 && !contracted)
              order[n++] = *c;
          }
      for (guint k = 0; k < 2; k++)
        gantry_attr_list_set_ints (attrs, keys[i][k], lists[k], counts[k]);
    }
  for (guint i = 0; i < 2; i++)
    for (const char *c = letters[i]; *c != '\0'; c++)
      if (strchr (letters[1 - i], *c) == NULL)
        order[n++] = *c;
  order[n] = '\0';
  return gantry_aten_add (l, GANTRY_OP_DOT_GENERAL, attrs, 2, operands[0], operands[1]);
}

/* Both as one, with the letters that @needed has. FALSE where that has too many dimensions. */
static gboolean
join (AtenLower *l, Operand *x, const Operand *y, const char *needed)
{
  guint32 pair[2] = { x->id, y->id };
  const char *letters[2] = { x->letters, y->letters };
  char kept[2][GANTRY_MAX_RANK + 1], order[2 * GANTRY_MAX_RANK + 1];

  for (guint i = 0; i < 2; i++)
    {
      g_autofree char *known = g_strconcat (needed, letters[1 - i], NULL);

      pair[i] = sum_others (l, pair[i], letters[i], known, kept[i]);
    }
  x->id = product_of (l, pair, kept, needed, order);
  return g_strlcpy (x->letters, order, sizeof x->letters) < sizeof x->letters;
}

static void
einsum (AtenLower *l)
{
  g_auto (GStrv) words = g_strsplit (gantry_aten_string (l, "equation", ""), " ", -1);
  g_autofree char *equation = g_strjoinv ("", words);
  guint n = gantry_aten_list_length (l, "tensors");
  Operand *operands = gantry_arena_alloc (l->arena, sizeof *operands * MAX (n, 1));
  char result[GANTRY_MAX_RANK + 1], kept[GANTRY_MAX_RANK + 1];
  gint64 permutation[GANTRY_MAX_RANK];

  for (guint i = 0; i < n; i++)
    operands[i].id = gantry_aten_in_list (l, "tensors", i);
  if (!read_equation (l, equation, operands, n, result))
    {
      gantry_aten_refuse (l, "equation '%s' does not fit %u operands", equation, n);
      return;
    }
  for (guint i = 0; i < n; i++)
    take_diagonals (l, &operands[i]);
  drop_ones (l, operands, n);
  for (guint i = 1; i < n; i++)
    {
      g_autoptr (GString) needed = g_string_new (result);

      for (guint k = i + 1; k < n; k++)
        g_string_append (needed, operands[k].letters);
      if (!join (l, &operands[0], &operands[i], needed->str))
        {
          gantry_aten_refuse (l, "equation '%s' has a product of more than %d dimensions", equation, GANTRY_MAX_RANK);
          return;
        }
    }
  operands[0].id = sum_others (l, operands[0].id, operands[0].letters, result, kept);
  for (guint i = 0; result[i] != '\0'; i++)
    permutation[i] = strchr (kept, result[i]) - kept;
  l->out[0] = gantry_builder_transpose (l->b, operands[0].id, permutation);
}

const AtenRule gantry_aten_einsum_rules[] = {
  { "einsum", einsum, GANTRY_CLASS_CONTRACTION, 0, NULL },
  { NULL },
};
