/* SPDX-License-Identifier: Apache-2.0 */
/* Tensor expressions as people write them: "C[i, j] = sum(A[i, k] * B[k, j], axis=[k])". A part that is long, or long
 * and used twice, gets a name of its own and follows after "where", so that no text grows beyond the expression. */
#include "core/expr/texpr.h"
#include "core/expr/scalar.h"
#include <math.h>
#include <string.h>

/* A text longer than this gets a name; one used more than once already at the second length. */
#define LONG_TEXT 240
#define LONG_SHARED_TEXT 32

typedef enum
{
  LEVEL_OR = 1,
  LEVEL_AND,
  LEVEL_COMPARE,
  LEVEL_BITS,
  LEVEL_SHIFT,
  LEVEL_SUM,
  LEVEL_PRODUCT,
  LEVEL_ATOM
} Level;

typedef struct
{
  const GantryTexpr *texpr;
  const char *const *names;
  char **texts; /* of the nodes */
  guint8 *levels;
  guint32 *uses;
  guint8 *addends; /* what a sum adds up, or may */
  GString *where;
  guint n_named;
} Writer;

static void
append_variable (const GantryTexpr *texpr, GString *out, guint variable)
{
  static const char letters[] = "ijlmnp";

  if (variable >= texpr->rank && texpr->n_axes == 1)
    g_string_append_c (out, 'k');
  else if (variable >= texpr->rank)
    g_string_append_printf (out, "k%u", variable - texpr->rank);
  else if (texpr->rank <= sizeof letters - 1)
    g_string_append_c (out, letters[variable]);
  else
    g_string_append_printf (out, "i%u", variable);
}

static void
append_input (const Writer *w, GString *out, guint input)
{
  if (w->names != NULL)
    g_string_append (out, w->names[input]);
  else if (w->texpr->n_inputs < 26)
    g_string_append_c (out, (char) ('A' + input));
  else
    g_string_append_printf (out, "A%u", input);
}

static void
append_output (const Writer *w, GString *out)
{
  if (w->names != NULL)
    g_string_append (out, "out");
  else if (w->texpr->n_inputs < 26)
    g_string_append_c (out, (char) ('A' + w->texpr->n_inputs));
  else
    g_string_append_printf (out, "A%u", w->texpr->n_inputs);
}

static void
append_constant (GString *out, const GantryTx *node)
{
  char number[G_ASCII_DTOSTR_BUF_SIZE];

  if (node->type == GANTRY_BOOL)
    g_string_append (out, node->i != 0 ? "true" : "false");
  else if (!gantry_element_is_float (node->type) && !gantry_element_is_signed (node->type))
    g_string_append_printf (out, "%" G_GUINT64_FORMAT, (guint64) node->i);
  else if (!gantry_element_is_float (node->type))
    g_string_append_printf (out, "%" G_GINT64_FORMAT, node->i);
  else if (isnan (node->f))
    g_string_append (out, "nan");
  else if (isinf (node->f))
    g_string_append (out, node->f > 0 ? "inf" : "-inf");
  else
    g_string_append (out, g_ascii_formatd (number, sizeof number, node->type == GANTRY_F64 ? "%.17g" : "%.9g", node->f));
}

typedef struct
{
  GantryOp op;
  Level level;
  const char *symbol;
} Infix;

static const Infix infixes[] = {
  { GANTRY_OP_ADD, LEVEL_SUM, "+" },
  { GANTRY_OP_SUBTRACT, LEVEL_SUM, "-" },
  { GANTRY_OP_MULTIPLY, LEVEL_PRODUCT, "*" },
  { GANTRY_OP_DIVIDE, LEVEL_PRODUCT, "/" },
  { GANTRY_OP_REMAINDER, LEVEL_PRODUCT, "%" },
  { GANTRY_OP_AND, LEVEL_BITS, "&" },
  { GANTRY_OP_OR, LEVEL_BITS, "|" },
  { GANTRY_OP_XOR, LEVEL_BITS, "^" },
  { GANTRY_OP_SHIFT_LEFT, LEVEL_SHIFT, "<<" },
  { GANTRY_OP_SHIFT_RIGHT_ARITHMETIC, LEVEL_SHIFT, ">>" },
  { GANTRY_OP_SHIFT_RIGHT_LOGICAL, LEVEL_SHIFT, ">>>" },
};

static gboolean
find_infix (const GantryTx *node, Infix *infix)
{
  static const char *const directions[] = { "==", "!=", "<", "<=", ">", ">=" };

  if (node->op == GANTRY_OP_COMPARE)
    {
      *infix = (Infix){ GANTRY_OP_COMPARE, LEVEL_COMPARE, directions[node->direction] };
      return TRUE;
    }
  if (node->type == GANTRY_BOOL && (node->op == GANTRY_OP_AND || node->op == GANTRY_OP_OR))
    {
      gboolean is_and = node->op == GANTRY_OP_AND;

      *infix = (Infix){ node->op, is_and ? LEVEL_AND : LEVEL_OR, is_and ? "&&" : "||" };
      return TRUE;
    }
  for (guint i = 0; i < G_N_ELEMENTS (infixes); i++)
    if (infixes[i].op == node->op)
      {
        *infix = infixes[i];
        return TRUE;
      }
  return FALSE;
}

static const char *
reduction_name (GantryOp op)
{
  switch (op)
    {
    case GANTRY_OP_ADD: return "sum";
    case GANTRY_OP_MULTIPLY: return "prod";
    case GANTRY_OP_MAXIMUM: return "max";
    case GANTRY_OP_MINIMUM: return "min";
    case GANTRY_OP_AND: return "all";
    default: return "any";
    }
}

static void
append_operand (const Writer *w, GString *out, guint32 x, Level level)
{
  gboolean brackets = w->levels[x] < level;

  g_string_append_printf (out, brackets ? "(%s)" : "%s", w->texts[x]);
}

static void
append_call (const Writer *w, GString *out, const char *name, guint n, guint32 a, guint32 b, guint32 c)
{
  g_string_append_printf (out, "%s(%s", name, w->texts[a]);
  if (n > 1)
    g_string_append_printf (out, ", %s", w->texts[b]);
  if (n > 2)
    g_string_append_printf (out, ", %s", w->texts[c]);
  g_string_append_c (out, ')');
}

static void
append_list (const Writer *w, GString *out, const GantryTx *node)
{
  g_string_append_c (out, '[');
  for (guint i = 0; i < node->c; i++)
    {
      guint32 entry = w->texpr->pool[node->b + i];

      g_string_append (out, i > 0 ? ", " : "");
      if (node->kind == GANTRY_TX_LOAD)
        g_string_append (out, w->texts[entry]);
      else
        append_variable (w->texpr, out, entry);
    }
  g_string_append_c (out, ']');
}

/* Whether @node is a product by itself where a sum could have one that is part of it (GANTRY_TX_UNROUNDED). */
static gboolean
is_rounded_addend (const Writer *w, const GantryTx *node)
{
  return w->addends[node - w->texpr->nodes] && node->kind == GANTRY_TX_BINARY && node->op == GANTRY_OP_MULTIPLY && gantry_element_is_float (node->type)
         && node->direction != GANTRY_TX_UNROUNDED;
}

static Level
write_binary (Writer *w, GString *out, const GantryTx *node)
{
  gboolean tight = node->type == GANTRY_I64; /* indices: i*16 + j */
  gboolean brackets = is_rounded_addend (w, node);
  Infix infix;

  if (!find_infix (node, &infix))
    {
      append_call (w, out, gantry_scalar_short_name (node->op), 2, node->a, node->b, 0);
      return LEVEL_ATOM;
    }
  g_string_append (out, brackets ? "(" : "");
  append_operand (w, out, node->a, infix.level == LEVEL_COMPARE ? LEVEL_COMPARE + 1 : infix.level);
  g_string_append_printf (out, tight && infix.level == LEVEL_PRODUCT ? "%s" : " %s ", infix.symbol);
  append_operand (w, out, node->b, infix.level + (infix.level > LEVEL_AND));
  g_string_append (out, brackets ? ")" : "");
  return brackets ? LEVEL_ATOM : infix.level;
}

static Level
write_node (Writer *w, GString *out, const GantryTx *node)
{
  g_autofree char *name = NULL;

  switch (node->kind)
    {
    case GANTRY_TX_CONST: append_constant (out, node); return out->str[0] == '-' ? LEVEL_SUM : LEVEL_ATOM;
    case GANTRY_TX_INDEX: append_variable (w->texpr, out, node->a); return LEVEL_ATOM;
    case GANTRY_TX_LOAD:
      append_input (w, out, node->a);
      append_list (w, out, node);
      return LEVEL_ATOM;
    case GANTRY_TX_BINARY: return write_binary (w, out, node);
    case GANTRY_TX_SELECT: append_call (w, out, "select", 3, node->a, node->b, node->c); return LEVEL_ATOM;
    case GANTRY_TX_CAST: append_call (w, out, gantry_element_name (node->type), 1, node->a, 0, 0); return LEVEL_ATOM;
    case GANTRY_TX_BITCAST:
      name = g_strdup_printf ("bitcast_%s", gantry_element_name (node->type));
      append_call (w, out, name, 1, node->a, 0, 0);
      return LEVEL_ATOM;
    case GANTRY_TX_REDUCE:
      g_string_append_printf (out, "%s(%s, axis=", reduction_name (node->op), w->texts[node->a]);
      append_list (w, out, node);
      g_string_append_c (out, ')');
      return LEVEL_ATOM;
    default: /* unary */
      if (node->op == GANTRY_OP_NEGATE || node->op == GANTRY_OP_NOT)
        {
          g_string_append_c (out, node->op == GANTRY_OP_NEGATE ? '-' : node->type == GANTRY_BOOL ? '!' : '~');
          append_operand (w, out, node->a, LEVEL_ATOM);
          return LEVEL_PRODUCT;
        }
      append_call (w, out, gantry_scalar_short_name (node->op), 1, node->a, 0, 0);
      return LEVEL_ATOM;
    }
}

/* Moves a long text to the end under a name. */
static void
give_name (Writer *w, guint32 i)
{
  char *name = g_strdup_printf ("t%u", w->n_named++);

  g_string_append_printf (w->where, "%s %s = %s", w->where->len == 0 ? "\n  where" : ",\n       ", name, w->texts[i]);
  g_free (w->texts[i]);
  w->texts[i] = name;
  w->levels[i] = LEVEL_ATOM;
}

static void
count_uses (Writer *w)
{
  const GantryTexpr *texpr = w->texpr;

  for (guint32 i = 0; i < texpr->n_nodes; i++)
    {
      const GantryTx *node = &texpr->nodes[i];

      if (node->kind == GANTRY_TX_LOAD)
        for (guint j = 0; j < node->c; j++)
          w->uses[texpr->pool[node->b + j]]++;
      else if (node->kind != GANTRY_TX_CONST && node->kind != GANTRY_TX_INDEX)
        w->uses[node->a]++;
      if (node->kind == GANTRY_TX_BINARY || node->kind == GANTRY_TX_SELECT)
        w->uses[node->b]++;
      if (node->kind == GANTRY_TX_SELECT)
        w->uses[node->c]++;
    }
}

static void
find_addends (Writer *w)
{
  const GantryTexpr *texpr = w->texpr;

  for (guint32 i = texpr->n_nodes; i-- > 0;)
    {
      const GantryTx *node = &texpr->nodes[i];

      if (node->kind == GANTRY_TX_REDUCE && node->op == GANTRY_OP_ADD)
        w->addends[node->a] = TRUE;
      else if (node->kind == GANTRY_TX_SELECT && w->addends[i])
        w->addends[node->b] = w->addends[node->c] = TRUE;
    }
}

char *
gantry_texpr_to_text (const GantryTexpr *texpr, const char *const *names)
{
  Writer w = { .texpr = texpr, .names = names };
  GString *out = g_string_new (NULL);

  w.texts = g_new0 (char *, texpr->n_nodes);
  w.levels = g_new0 (guint8, texpr->n_nodes);
  w.uses = g_new0 (guint32, texpr->n_nodes);
  w.addends = g_new0 (guint8, texpr->n_nodes);
  w.where = g_string_new (NULL);
  count_uses (&w);
  find_addends (&w);
  for (guint32 i = 0; i < texpr->n_nodes; i++)
    {
      GString *text = g_string_new (NULL);

      w.levels[i] = (guint8) write_node (&w, text, &texpr->nodes[i]);
      w.texts[i] = g_string_free (text, FALSE);
      if (i != texpr->root && strlen (w.texts[i]) > (w.uses[i] > 1 ? LONG_SHARED_TEXT : LONG_TEXT))
        give_name (&w, i);
    }
  append_output (&w, out);
  g_string_append_c (out, '[');
  for (guint i = 0; i < texpr->rank; i++)
    {
      g_string_append (out, i > 0 ? ", " : "");
      append_variable (texpr, out, i);
    }
  g_string_append_printf (out, "] = %s%s", w.texts[texpr->root], w.where->str);
  for (guint32 i = 0; i < texpr->n_nodes; i++)
    g_free (w.texts[i]);
  g_free (w.texts);
  g_free (w.levels);
  g_free (w.uses);
  g_free (w.addends);
  g_string_free (w.where, TRUE);
  return g_string_free (out, FALSE);
}
