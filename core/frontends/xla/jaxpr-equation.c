/* SPDX-License-Identifier: Apache-2.0 */
/* One equation, "c:f32[8] = dot_general[...] a b", and its node. It ends where the next one begins a line, no further to the
 * right than it, for a name of the next may follow the last operand. */
#include "core/frontends/xla/jaxpr-private.h"
#include "core/graph/operation.h"

#define MOST_NODES 4000000
/* Texts of parameters that nobody interprets are for reading. */
#define MOST_TEXT 4096

static void
equation_init (Jaxpr *j, JaxprEquation *e)
{
  *e = (JaxprEquation){ 0 };
  e->names = g_array_new (FALSE, FALSE, sizeof (guint32));
  e->types = g_array_new (FALSE, FALSE, sizeof (guint32));
  e->atoms = g_array_new (FALSE, FALSE, sizeof (JaxprAtom));
  e->functions = g_array_new (FALSE, FALSE, sizeof (guint32));
  e->attrs = gantry_attr_list_new (j->context);
}

static void
equation_clear (JaxprEquation *e)
{
  g_array_unref (e->names);
  g_array_unref (e->types);
  g_array_unref (e->atoms);
  g_array_unref (e->functions);
  g_clear_pointer (&e->attrs, gantry_attr_list_free);
  g_free (e->call_name);
}

static guint32
intern (Jaxpr *j, GantryXlaSpan span)
{
  return gantry_context_intern_len (j->context, span.at, span.length);
}

/* Operands */

static gboolean
is_word_literal (GantryXlaSpan name)
{
  return gantry_xla_span_is (name, "True") || gantry_xla_span_is (name, "False") || gantry_xla_span_is (name, "nan") || gantry_xla_span_is (name, "inf")
         || gantry_xla_span_is (name, "None");
}

/* A number, a string or what else Python prints, up to space or what ends a list. */
static GantryXlaSpan
literal_text (Jaxpr *j)
{
  GantryXlaScan *s = &j->s;
  GantryXlaSpan span = { s->at, 0 };

  while (s->at < s->end && !g_ascii_isspace (*s->at) && strchr (",;:)]}", *s->at) == NULL)
    if (*s->at == '[' || *s->at == '(' || *s->at == '{')
      gantry_jaxpr_skip (j);
    else
      s->at++;
  span.length = (gsize) (s->at - span.at);
  if (span.length == 0)
    gantry_jaxpr_expect (j, "a value");
  return span;
}

static guint32
foreign_literal (Jaxpr *j, GantryXlaSpan text, guint32 type)
{
  GantryAttrList *attrs = gantry_attr_list_new (j->context);
  g_autofree char *raw = g_strndup (text.at, MIN (text.length, MOST_TEXT)), *valid = g_utf8_make_valid (raw, -1);

  gantry_attr_list_set_string (attrs, "value", valid);
  g_hash_table_add (j->unknown, GUINT_TO_POINTER (gantry_context_intern (j->context, "jax.literal")));
  return gantry_builder_add_typed (j->b, gantry_context_foreign_op (j->context, "jax.literal"), NULL, 0, gantry_attr_list_end (attrs), type);
}

/* Of a type of any rank: one number is that of all elements. */
static guint32
literal_node (Jaxpr *j, GantryXlaSpan text, guint32 type)
{
  const GantryType *t = gantry_context_type (j->context, type);
  GantryElementType element = (GantryElementType) t->element;
  g_autofree char *raw = g_strndup (text.at, MIN (text.length, 64));
  gboolean truth = strcmp (raw, "True") == 0;
  char *end;
  double value = g_ascii_strtod (raw, &end);
  guint32 id;

  if (truth || strcmp (raw, "False") == 0)
    {
      value = truth;
      end = raw + strlen (raw);
    }
  if (t->kind != GANTRY_TYPE_TENSOR || !gantry_element_is_compiled (element) || *end != 0 || text.length > 64 || !gantry_type_is_static (t))
    return foreign_literal (j, text, type);
  if (gantry_element_is_float (element))
    id = gantry_builder_scalar (j->b, element, value);
  else if (truth || strpbrk (raw, ".einEIN") != NULL) /* a whole number that is written as a float */
    id = gantry_builder_int_scalar (j->b, element, value >= -9.2e18 && value <= 9.2e18 ? (gint64) value : 0);
  else
    id = gantry_builder_int_scalar (j->b, element, *raw == '-' ? g_ascii_strtoll (raw, NULL, 10) : (gint64) g_ascii_strtoull (raw, NULL, 10));
  return t->rank > 0 ? gantry_builder_broadcast (j->b, id, t->rank, t->dims, NULL) : id;
}

/* Values that nothing outside of their jaxpr reads have one name, by which they may be read inside. */
#define DROPPED "_"
#define SEVERAL G_MAXUINT32 /* the value of the name where it is that of more than one */

void
gantry_jaxpr_atom (Jaxpr *j, JaxprFrame *frame, JaxprAtom *atom)
{
  GantryXlaScan *s = &j->s;
  GantryXlaSpan name = gantry_jaxpr_name (j, FALSE);
  gpointer id = name.length > 0 ? g_hash_table_lookup (frame->values, GUINT_TO_POINTER (intern (j, name))) : NULL;

  *atom = (JaxprAtom){ GPOINTER_TO_UINT (id), name };
  if (id == NULL && gantry_xla_span_is (name, "_")) /* a result that nobody reads */
    atom->text = name;
  else if (name.length > 0 && (id != NULL || !is_word_literal (name)))
    {
      if (id == NULL)
        gantry_xla_scan_fail (s, GANTRY_ERROR_INVALID, "value %.*s is not defined before", (int) MIN (name.length, 64), name.at);
      else if (atom->id == SEVERAL)
        gantry_xla_scan_fail (s, GANTRY_ERROR_UNSUPPORTED,
                              "several values before are named " DROPPED ", and the text does not say which is read; open the "
                              "program's StableHLO");
      return;
    }
  else if (name.length == 0)
    atom->text = literal_text (j);
  if (gantry_xla_scan_ahead (s, 0) == ':' && s->error == NULL)
    {
      s->at++;
      atom->id = literal_node (j, atom->text, gantry_jaxpr_type (j));
    }
}

guint32
gantry_jaxpr_node (Jaxpr *j, const JaxprAtom *atom, GantryElementType element)
{
  g_autofree char *text = g_strndup (atom->text.at, MIN (atom->text.length, 64));
  gboolean truth = strcmp (text, "True") == 0 || strcmp (text, "False") == 0;
  gboolean whole = strspn (text, "-0123456789") == strlen (text), number = whole || strspn (text, "-+0123456789.einfa") == strlen (text);

  if (atom->id != 0)
    return atom->id;
  if (truth)
    element = GANTRY_BOOL;
  else if (whole && (gantry_element_is_float (element) || element == GANTRY_BOOL || !gantry_element_is_compiled (element)))
    element = GANTRY_I32;
  else if (!whole && !gantry_element_is_float (element))
    element = GANTRY_F32;
  return number || truth ? literal_node (j, atom->text, gantry_context_scalar (j->context, element)) : foreign_literal (j, atom->text, 0);
}

/* Parameters */

static void
set_text (JaxprEquation *e, const char *key, GantryXlaSpan span)
{
  g_autofree char *text = g_strndup (span.at, MIN (span.length, MOST_TEXT));
  g_autofree char *valid = g_utf8_make_valid (text, -1);

  gantry_attr_list_set_string (e->attrs, key, valid);
}

/* Behind "np.int64(" of a number that NumPy prints so; else 0. */
static gsize
numpy_prefix (const char *at)
{
  const char *digits = g_str_has_prefix (at, "np.uint") ? at + 7 : g_str_has_prefix (at, "np.int") ? at + 6 : NULL;
  gsize n = digits != NULL ? strspn (digits, "0123456789") : 0;

  return n > 0 && digits[n] == '(' ? (gsize) (digits + n + 1 - at) : 0;
}

/* "(1, 2)", "(np.int64(1), 2)" */
static GArray *
read_ints (GantryXlaSpan span)
{
  g_autoptr (GArray) ints = g_array_new (FALSE, FALSE, sizeof (gint64));
  g_autofree char *text = g_strndup (span.at, span.length);
  char *at = text;

  if (*at++ != '(' || span.length > 1000000)
    return NULL;
  while (*at != ')')
    {
      char *end;
      gsize prefix = numpy_prefix (at);
      gint64 value = g_ascii_strtoll (at += prefix, &end, 10);

      if (end == at || (prefix > 0 && *end++ != ')') || (*end != ',' && *end != ')'))
        return NULL;
      g_array_append_val (ints, value);
      at = *end == ',' ? end + 1 : end;
      while (*at == ' ' || *at == '\n')
        at++;
    }
  return at[1] == 0 ? g_steal_pointer (&ints) : NULL;
}

static void
set_value (JaxprEquation *e, const char *key, GantryXlaSpan span)
{
  g_autofree char *text = g_strndup (span.at, MIN (span.length, 64));
  g_autoptr (GArray) ints = read_ints (span);
  char *end;
  gint64 whole = g_ascii_strtoll (text, &end, 10);

  if (ints != NULL)
    gantry_attr_list_set_ints (e->attrs, key, (const gint64 *) ints->data, ints->len);
  else if (strcmp (text, "True") == 0 || strcmp (text, "False") == 0)
    gantry_attr_list_set_int (e->attrs, key, *text == 'T');
  else if (end > text && *end == 0 && span.length < 19)
    gantry_attr_list_set_int (e->attrs, key, whole);
  else
    {
      double number = g_ascii_strtod (text, &end);

      if (end > text && *end == 0 && span.length < 64)
        gantry_attr_list_set_float (e->attrs, key, number);
      else
        set_text (e, key, span);
    }
}

static void
set_function (JaxprEquation *e, const char *key, guint32 function)
{
  if (function == 0)
    return;
  gantry_attr_list_set_function (e->attrs, key, function);
  g_array_append_val (e->functions, function);
}

static gboolean
sees_body (Jaxpr *j)
{
  GantryXlaScan *s = &j->s;
  const char *at;

  if (gantry_jaxpr_peek (j) != '{')
    return FALSE;
  for (at = s->at + 1; at < s->end && g_ascii_isspace (*at); at++)
    ;
  return s->end - at > 6 && memcmp (at, "lambda", 6) == 0 && g_ascii_isspace (at[6]);
}

/* "( { lambda ... } { lambda ... } )", with names among them of what was printed in front */
static gboolean
read_branches (Jaxpr *j, JaxprEquation *e, const char *key)
{
  GantryXlaScan before = j->s;
  guint n = 0;

  if (!gantry_jaxpr_accept (j, "("))
    return FALSE;
  while (j->s.error == NULL && !gantry_jaxpr_sees (j, ")"))
    {
      g_autofree char *each = g_strdup_printf ("%s_%u", key, n++);
      guint32 function = 0;

      if (sees_body (j))
        function = gantry_jaxpr_body (j, each, FALSE);
      else
        {
          GantryXlaSpan name = gantry_jaxpr_name (j, FALSE);

          function = name.length > 0 ? gantry_jaxpr_shared (j, name) : 0;
        }
      if (function == 0)
        {
          if (j->s.error == NULL)
            j->s = before;
          return FALSE;
        }
      set_function (e, each, function);
      gantry_jaxpr_accept (j, ",");
    }
  return gantry_jaxpr_expect (j, ")") && n > 0;
}

static void
read_parameter (Jaxpr *j, JaxprEquation *e, GantryXlaSpan key)
{
  g_autofree char *name = gantry_xla_span_dup (key);
  GantryXlaSpan value;
  guint32 function;

  gantry_jaxpr_peek (j);
  if (sees_body (j))
    {
      set_function (e, name, gantry_jaxpr_body (j, e->call_name != NULL ? e->call_name : name, FALSE));
      return;
    }
  if (gantry_xla_scan_ahead (&j->s, 0) == '(' && read_branches (j, e, name))
    return;
  value = gantry_jaxpr_value (j);
  if (j->s.error != NULL)
    return;
  function = g_str_has_suffix (name, "jaxpr") ? gantry_jaxpr_shared (j, value) : 0;
  if (function != 0)
    {
      set_function (e, name, function);
      return;
    }
  if (j->s.error == NULL)
    set_value (e, name, value);
  if (strcmp (name, "name") == 0 && e->call_name == NULL && value.length > 0 && value.length < 256)
    {
      g_autofree char *raw = gantry_xla_span_dup (value);

      e->call_name = g_utf8_make_valid (raw, -1);
    }
}

static void
read_parameters (Jaxpr *j, JaxprEquation *e)
{
  gantry_jaxpr_expect (j, "[");
  while (j->s.error == NULL && !gantry_jaxpr_accept (j, "]"))
    {
      GantryXlaSpan key = gantry_jaxpr_name (j, FALSE);

      if (key.length == 0)
        gantry_jaxpr_expect (j, "]");
      else if (gantry_jaxpr_expect (j, "="))
        read_parameter (j, e, key);
    }
}

/* Writing the node */

/* Calls of a jaxpr whose meaning is that of the jaxpr. */
static gboolean
is_call (GantryXlaSpan name)
{
  static const char *const calls[] = {
    "jit",        "pjit",       "xla_call",        "core_call",       "closed_call",           "core_closed_call",      "named_call", "remat",      "remat2",
    "remat_call", "checkpoint", "custom_jvp_call", "custom_vjp_call", "custom_jvp_call_jaxpr", "custom_vjp_call_jaxpr", "custom_lin", "run_scoped",
  };

  for (guint i = 0; i < G_N_ELEMENTS (calls); i++)
    if (gantry_xla_span_is (name, calls[i]))
      return TRUE;
  return FALSE;
}

/* Whether the function takes these operands and gives these results. */
static gboolean
agrees (Jaxpr *j, const JaxprEquation *e, const guint32 *operands)
{
  const GArray *types = e->functions->len == 1 ? g_hash_table_lookup (j->functions, GUINT_TO_POINTER (g_array_index (e->functions, guint32, 0))) : NULL;
  guint n = e->atoms->len;

  if (types == NULL || types->len != n + 1 + e->types->len)
    return FALSE;
  for (guint i = 0; i < n; i++)
    if (operands[i] == 0 || gantry_builder_type (j->b, operands[i]) != g_array_index (types, guint32, i) || g_array_index (types, guint32, i) == 0)
      return FALSE;
  for (guint i = 0; i < e->types->len; i++)
    if (g_array_index (types, guint32, n + 1 + i) != g_array_index (e->types, guint32, i))
      return FALSE;
  return TRUE;
}

/* The types of the first operands that a literal without one suits. @elements: for a literal with a point, and for a whole one */
static void
find_elements (Jaxpr *j, const JaxprEquation *e, GantryElementType elements[2])
{
  elements[0] = elements[1] = GANTRY_ELEMENT_NONE;
  for (guint i = 0; i < e->atoms->len; i++)
    {
      guint32 id = g_array_index (e->atoms, JaxprAtom, i).id;
      const GantryType *type = id != 0 ? gantry_builder_get_type (j->b, id) : NULL;
      GantryElementType *element;

      if (type == NULL || type->kind != GANTRY_TYPE_TENSOR || type->element == GANTRY_BOOL)
        continue;
      element = &elements[!gantry_element_is_float ((GantryElementType) type->element)];
      if (*element == GANTRY_ELEMENT_NONE)
        *element = (GantryElementType) type->element;
    }
}

/* The element type that a literal without one has: that of a function's parameter, else of the first operand that it suits. */
static guint32
resolve (Jaxpr *j, const JaxprEquation *e, guint i, const GantryElementType elements[2])
{
  const JaxprAtom *atom = &g_array_index (e->atoms, JaxprAtom, i);
  const GArray *types = e->functions->len == 1 ? g_hash_table_lookup (j->functions, GUINT_TO_POINTER (g_array_index (e->functions, guint32, 0))) : NULL;
  gboolean whole = atom->text.length > 0 && memchr (atom->text.at, '.', atom->text.length) == NULL;
  GantryElementType element = GANTRY_ELEMENT_NONE;

  if (atom->id == 0 && types != NULL && i < types->len && is_call (e->name))
    element = (GantryElementType) gantry_context_type (j->context, g_array_index (types, guint32, i))->element;
  return gantry_jaxpr_node (j, atom, element != GANTRY_ELEMENT_NONE ? element : elements[whole]);
}

static guint32
here (Jaxpr *j, const JaxprEquation *e)
{
  GantryLocation location = { .file = j->file, .line = e->line, .column = e->column };

  return e->location != 0 ? e->location : gantry_context_location (j->context, &location);
}

/* Two calls of one name are two scopes. */
static guint32
call_scope (Jaxpr *j, JaxprFrame *frame, const JaxprEquation *e)
{
  g_autofree char *primitive = gantry_xla_span_dup (e->name), *path = NULL;
  const char *name = e->call_name != NULL ? e->call_name : primitive;
  guint32 key = gantry_context_intern (j->context, name);
  guint n = GPOINTER_TO_UINT (g_hash_table_lookup (frame->scopes, GUINT_TO_POINTER (key)));

  g_hash_table_insert (frame->scopes, GUINT_TO_POINTER (key), GUINT_TO_POINTER (n + 1));
  path = g_strdup_printf (n > 0 ? "%s%s%s#%u" : "%s%s%s", gantry_context_scope_path (j->context, e->scope), e->scope != 0 ? "/" : "", name, n + 1);
  return gantry_context_scope (j->context, path);
}

static guint32
add_node (Jaxpr *j, JaxprFrame *frame, JaxprEquation *e)
{
  g_autofree guint32 *operands = g_new0 (guint32, e->atoms->len + 1);
  g_autofree char *name = g_strdup_printf ("jax.%.*s", (int) MIN (e->name.length, 256), e->name.at);
  guint32 type = e->types->len == 1 ? g_array_index (e->types, guint32, 0) : gantry_context_tuple (j->context, e->types->len, (const guint32 *) e->types->data);
  GantryElementType elements[2];

  find_elements (j, e, elements);
  gantry_builder_set_place (j->b, e->scope, here (j, e));
  for (guint i = 0; i < e->atoms->len; i++)
    operands[i] = resolve (j, e, i, elements);
  if (e->names->len == 1)
    gantry_builder_set_name (j->b, g_array_index (e->names, guint32, 0));
  if (is_call (e->name) && agrees (j, e, operands))
    {
      gantry_builder_set_place (j->b, call_scope (j, frame, e), here (j, e));
      gantry_attr_list_set_function (e->attrs, "body", g_array_index (e->functions, guint32, 0));
      return gantry_builder_add_typed (j->b, GANTRY_OP_CALL, operands, e->atoms->len, gantry_attr_list_end (g_steal_pointer (&e->attrs)), type);
    }
  if (!gantry_xla_knows_operation (name))
    g_hash_table_add (j->unknown, GUINT_TO_POINTER (gantry_context_intern (j->context, name)));
  return gantry_builder_add_typed (j->b, gantry_context_foreign_op (j->context, name), operands, e->atoms->len,
                                   gantry_attr_list_end (g_steal_pointer (&e->attrs)), type);
}

static void
define_results (Jaxpr *j, JaxprFrame *frame, const JaxprEquation *e, guint32 id)
{
  guint32 dropped = gantry_context_intern (j->context, DROPPED);

  for (guint i = 0; i < e->names->len; i++)
    {
      guint32 value = e->names->len > 1 ? gantry_builder_result (j->b, id, i) : id;
      gpointer name = GUINT_TO_POINTER (g_array_index (e->names, guint32, i));

      if (g_array_index (e->names, guint32, i) == dropped && g_hash_table_contains (frame->values, name))
        value = SEVERAL;
      g_hash_table_insert (frame->values, name, GUINT_TO_POINTER (value));
    }
}

/* Reading */

static gboolean
ends_equation (Jaxpr *j, const JaxprEquation *e)
{
  char c = gantry_jaxpr_peek (j);

  return j->s.error != NULL || c == 0 || c == ';' || c == '}' || c == ')' || gantry_jaxpr_sees_end (j)
         || (j->s.line > e->line && gantry_xla_scan_first (&j->s) && gantry_xla_scan_column (&j->s) <= e->column);
}

/* "b[0,:]": a reference and where in it; names in the brackets are operands too. */
static void
reference (Jaxpr *j, JaxprFrame *frame, JaxprEquation *e)
{
  JaxprAtom atom = { 0 };
  GantryXlaSpan index;

  gantry_jaxpr_atom (j, frame, &atom);
  g_array_append_val (e->atoms, atom);
  if (!gantry_jaxpr_sees (j, "["))
    gantry_jaxpr_expect (j, "[");
  index.at = j->s.at + 1;
  if (j->s.error == NULL)
    gantry_jaxpr_skip (j);
  if (j->s.error != NULL)
    return;
  index.length = (gsize) (j->s.at - index.at) - 1;
  set_text (e, "index", index);
  for (const char *at = index.at; at < index.at + index.length;)
    {
      GantryXlaSpan name = { at, 0 };

      while (at < index.at + index.length && (g_ascii_isalnum (*at) || *at == '_'))
        at++;
      name.length = (gsize) (at - name.at);
      atom.id = name.length > 0 ? GPOINTER_TO_UINT (g_hash_table_lookup (frame->values, GUINT_TO_POINTER (intern (j, name)))) : 0;
      atom.id = atom.id != SEVERAL ? atom.id : 0;
      if (atom.id != 0)
        g_array_append_val (e->atoms, atom);
      at += name.length == 0;
    }
}

static const GantryXlaSpan get = { "get", 3 }, swap = { "swap", 4 }, add_update = { "addupdate", 9 };

/* "b:f32[] <- r[0]", "r[0] <- a", "b:f32[], r[0] <- r[0], a" and "r[0] += a" */
static void
state_equation (Jaxpr *j, JaxprFrame *frame, JaxprEquation *e, gboolean writes)
{
  JaxprAtom atom = { 0 };

  e->name = writes ? swap : get;
  if (writes)
    {
      reference (j, frame, e);
      if (gantry_jaxpr_accept (j, "+="))
        e->name = add_update;
      else
        gantry_jaxpr_expect (j, "<-");
      if (e->names->len > 0) /* what was there, once more */
        {
          gantry_jaxpr_name (j, FALSE);
          if (gantry_jaxpr_sees (j, "["))
            gantry_jaxpr_skip (j);
          gantry_jaxpr_expect (j, ",");
        }
      gantry_jaxpr_atom (j, frame, &atom);
      g_array_append_val (e->atoms, atom);
    }
  else
    reference (j, frame, e);
}

static void
read_results (Jaxpr *j, JaxprEquation *e)
{
  while (j->s.error == NULL)
    {
      GantryXlaScan before;
      GantryXlaSpan name;
      guint32 id, type;

      gantry_jaxpr_peek (j);
      before = j->s;
      name = gantry_jaxpr_name (j, FALSE);
      if (name.length == 0 || gantry_xla_scan_ahead (&j->s, 0) != ':')
        {
          j->s = before;
          return;
        }
      j->s.at++;
      id = intern (j, name);
      type = gantry_jaxpr_type (j);
      g_array_append_val (e->names, id);
      g_array_append_val (e->types, type);
      if (gantry_jaxpr_accept (j, ","))
        return;
    }
}

/* Whether a name that is defined comes, and brackets behind it with an arrow behind them: a write. */
static gboolean
sees_write (Jaxpr *j, JaxprFrame *frame)
{
  GantryXlaScan before = j->s;
  GantryXlaSpan name = gantry_jaxpr_name (j, FALSE);
  gboolean is = FALSE;

  if (before.error != NULL)
    return FALSE;
  if (name.length > 0 && gantry_xla_scan_ahead (&j->s, 0) == '[' && g_hash_table_contains (frame->values, GUINT_TO_POINTER (intern (j, name))))
    {
      gantry_jaxpr_skip (j);
      is = j->s.error == NULL && (gantry_jaxpr_sees (j, "<-") || gantry_jaxpr_sees (j, "+="));
    }
  g_clear_error (&j->s.error);
  j->s = before;
  return is;
}

static void
primitive (Jaxpr *j, JaxprFrame *frame, JaxprEquation *e)
{
  e->name = gantry_jaxpr_name (j, TRUE);
  if (e->name.length == 0)
    {
      gantry_jaxpr_expect (j, "a primitive");
      return;
    }
  if (gantry_xla_scan_ahead (&j->s, 0) == '[')
    read_parameters (j, e);
  while (!ends_equation (j, e))
    {
      JaxprAtom atom = { 0 };

      gantry_builder_set_place (j->b, e->scope, here (j, e));
      gantry_jaxpr_atom (j, frame, &atom);
      g_array_append_val (e->atoms, atom);
    }
}

static void
read_equation (Jaxpr *j, JaxprFrame *frame, JaxprEquation *e)
{
  gantry_jaxpr_peek (j);
  e->line = j->s.line;
  e->column = gantry_xla_scan_column (&j->s);
  gantry_jaxpr_comment (j, e);
  read_results (j, e);
  if (sees_write (j, frame))
    state_equation (j, frame, e, TRUE);
  else if (e->names->len > 0 && gantry_jaxpr_accept (j, "<-"))
    state_equation (j, frame, e, FALSE);
  else
    {
      if (e->names->len > 0)
        gantry_jaxpr_expect (j, "=");
      primitive (j, frame, e);
    }
}

void
gantry_jaxpr_equation (Jaxpr *j, JaxprFrame *frame)
{
  guint most = j->options->max_nodes != 0 ? j->options->max_nodes : MOST_NODES;
  JaxprEquation e;

  equation_init (j, &e);
  read_equation (j, frame, &e);
  if (j->s.error == NULL && ++j->n_nodes > most)
    gantry_xla_scan_fail (&j->s, GANTRY_ERROR_TOO_LARGE, "the jaxpr has more than %u equations", most);
  if (j->s.error == NULL)
    {
      j->info->n_operations++;
      define_results (j, frame, &e, add_node (j, frame, &e));
    }
  equation_clear (&e);
}
