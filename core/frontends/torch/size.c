/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes of dynamic dimensions: symbols that the user binds, and what the program computes of them. An expression is
 * written as SymPy prints it, "2*s77", or as its constructors, "Mul(Integer(2), Symbol('s77', positive=True))": whole numbers,
 * names, + - * //, parentheses, and functions of sizes. */
#include "core/frontends/torch/torch-private.h"
#include <string.h>

#define MOST_EXPRESSION_DEPTH 64

typedef struct
{
  TorchImport *import;
  const char *at;
  guint depth;
  gboolean known;
} Expression;

static gint64 sum (Expression *e);

static void
skip_space (Expression *e)
{
  while (*e->at == ' ')
    e->at++;
}

static gboolean
accept (Expression *e, const char *text)
{
  skip_space (e);
  if (!g_str_has_prefix (e->at, text))
    return FALSE;
  e->at += strlen (text);
  return TRUE;
}

static gint64
unknown (Expression *e)
{
  e->known = FALSE;
  return 1;
}

static gint64
floor_divide (Expression *e, gint64 a, gint64 b)
{
  if (b == 0 || b == -1)
    return b == 0 || a == G_MININT64 ? unknown (e) : -a;
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static gint64
checked (Expression *e, gboolean overflow, gint64 value)
{
  return overflow ? unknown (e) : value;
}

/* The number that a name stands for. */
static gint64
bound (Expression *e, const char *begin, gsize n)
{
  g_autofree char *name = g_strndup (begin, n);
  const gint64 *value = g_hash_table_lookup (e->import->symbols, name);

  if (value != NULL)
    return *value;
  g_hash_table_add (e->import->unbound, g_steal_pointer (&name));
  return unknown (e);
}

/* 's77', positive=True, integer=True): what is assumed of a symbol does not matter here. */
static gint64
symbol (Expression *e)
{
  const char *begin, *end, *close;

  if (!accept (e, "'"))
    return unknown (e);
  begin = e->at;
  end = strchr (begin, '\'');
  close = end != NULL ? strchr (end, ')') : NULL;
  if (close == NULL)
    return unknown (e);
  e->at = close + 1;
  return bound (e, begin, (gsize) (end - begin));
}

static gint64
apply (Expression *e, const char *name, gsize n, gint64 a, gint64 b)
{
  gint64 value = 0;

#define IS(text) (n == strlen (text) && strncmp (name, text, n) == 0)
  if (IS ("Add"))
    return __builtin_add_overflow (a, b, &value) ? unknown (e) : value;
  if (IS ("Mul"))
    return __builtin_mul_overflow (a, b, &value) ? unknown (e) : value;
  if (IS ("FloorDiv") || IS ("CleanDiv") || IS ("floor"))
    return floor_divide (e, a, b);
  if (IS ("Mod") || IS ("PythonMod"))
    return checked (e, b == 0 || b == -1, b == 0 || b == -1 ? 0 : a - b * floor_divide (e, a, b));
  if (IS ("Max"))
    return MAX (a, b);
  if (IS ("Min"))
    return MIN (a, b);
  return unknown (e);
}

/* A function of sizes; of several it is applied from left to right. */
static gint64
call (Expression *e, const char *name, gsize n)
{
  gint64 value;

  if (IS ("Symbol"))
    return symbol (e);
  value = sum (e);
  if (IS ("floor") && !accept (e, ","))
    return accept (e, ")") ? value : unknown (e);
  while (e->known && accept (e, ","))
    value = apply (e, name, n, value, sum (e));
  return accept (e, ")") ? value : unknown (e);
#undef IS
}

static gint64
atom (Expression *e)
{
  const char *begin;
  gint64 value = 0;
  gsize n;

  skip_space (e);
  if (++e->depth > MOST_EXPRESSION_DEPTH)
    return unknown (e);
  begin = e->at;
  if (accept (e, "-"))
    {
      value = atom (e);
      value = checked (e, value == G_MININT64, value == G_MININT64 ? 0 : -value);
    }
  else if (accept (e, "("))
    {
      value = sum (e);
      if (!accept (e, ")"))
        value = unknown (e);
    }
  else if (g_ascii_isdigit (*e->at))
    value = g_ascii_strtoll (e->at, (char **) &e->at, 10);
  else
    {
      while (g_ascii_isalnum (*e->at) || *e->at == '_')
        e->at++;
      n = (gsize) (e->at - begin);
      if (n == 0)
        value = unknown (e);
      else
        value = accept (e, "(") ? call (e, begin, n) : bound (e, begin, n);
    }
  e->depth--;
  return value;
}

static gint64
product (Expression *e)
{
  gint64 value = atom (e), other;

  while (e->known)
    if (accept (e, "**"))
      return unknown (e);
    else if (accept (e, "//"))
      value = floor_divide (e, value, atom (e));
    else if (accept (e, "*"))
      {
        gboolean overflow;

        other = atom (e);
        overflow = __builtin_mul_overflow (value, other, &value);
        value = checked (e, overflow, value);
      }
    else
      break;
  return value;
}

static gint64
sum (Expression *e)
{
  gint64 value = product (e);

  while (e->known)
    {
      gboolean minus = accept (e, "-"), overflow;
      gint64 other;

      if (!minus && !accept (e, "+"))
        break;
      other = product (e);
      overflow = minus ? __builtin_sub_overflow (value, other, &value) : __builtin_add_overflow (value, other, &value);
      value = checked (e, overflow, value);
    }
  return value;
}

/* The symbol that an expression is, where it is nothing else. Returns: (transfer full) (nullable) */
static char *
plain_symbol (const char *text)
{
  const char *begin = g_str_has_prefix (text, "Symbol('") ? text + strlen ("Symbol('") : text, *end = begin;

  while (g_ascii_isalnum (*end) || *end == '_')
    end++;
  if (end == begin || g_ascii_isdigit (*begin) || (begin == text ? *end != '\0' : *end != '\'' || strchr (end, ')') == NULL || strchr (end, ')')[1] != '\0'))
    return NULL;
  return g_strndup (begin, (gsize) (end - begin));
}

static const char *
expression_of (const TorchJson *size)
{
  return gantry_torch_json_string (gantry_torch_json_object (size, "as_expr"), "expr_str");
}

/* May be negative: the number of an expression that is no size. */
static gboolean
evaluate (TorchImport *import, const TorchJson *size, gint64 *value)
{
  const char *text = expression_of (size);
  Expression e = { import, text, 0, TRUE };

  if (gantry_torch_json_int (size, "as_int", value))
    return TRUE;
  if (text == NULL)
    return FALSE;
  *value = sum (&e);
  skip_space (&e);
  return e.known && *e.at == '\0';
}

GantryDim
gantry_torch_size (TorchImport *import, const TorchJson *size)
{
  const char *text = expression_of (size);
  g_autofree char *name = NULL;
  gint64 value;

  if (evaluate (import, size, &value))
    return MAX (value, GANTRY_DIM_UNKNOWN);
  name = text != NULL ? plain_symbol (text) : NULL;
  return name != NULL ? GANTRY_DIM_SYMBOL (gantry_context_intern (import->context, name)) : GANTRY_DIM_UNKNOWN;
}

gboolean
gantry_torch_symbol_value (TorchFrame *frame, const char *name, gint64 *value)
{
  return evaluate (frame->import, gantry_torch_json_object (gantry_torch_json_object (frame->graph, "sym_int_values"), name), value);
}

void
gantry_torch_bind_axes (TorchImport *import, const char *input, const TorchJson *meta)
{
  const TorchJson *sizes = gantry_torch_json_array (meta, "sizes");

  for (guint i = 0; sizes != NULL && i < MIN (sizes->n, GANTRY_MAX_RANK); i++)
    {
      const char *text = expression_of (gantry_torch_json_element (sizes, i));
      g_autofree char *name = g_strdup_printf ("%s:%u", input, i), *symbol_name = text != NULL ? plain_symbol (text) : NULL;

      for (guint k = 0; symbol_name != NULL && k < import->options->n_dims; k++)
        if (strcmp (import->options->dims[k].name, name) == 0)
          g_hash_table_insert (import->symbols, g_strdup (symbol_name), g_memdup2 (&import->options->dims[k].value, sizeof (gint64)));
    }
}
