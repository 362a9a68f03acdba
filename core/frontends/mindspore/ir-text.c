/* SPDX-License-Identifier: Apache-2.0 */
/* Texts that MindSpore writes where save_graphs is set (.ir): written as the MindIR that they would have been, as far as they say it, so that
 * one reader knows what both mean. Values of tensors are not in them: parameters are inputs, and constants are words. */
#include "core/frontends/mindspore/export-private.h"
#include "core/frontends/mindspore/mindir-private.h"
#include <string.h>

typedef struct
{
  GByteArray *graph; /* (nullable): the GraphProto under way */
  GByteArray *node;  /* (nullable): the NodeProto under way */
  GByteArray *main, *functions;
  char *entry, *name;    /* of graphs */
  char *place;           /* (nullable): of the node under way: "file:line" */
  GPtrArray *parameters; /* tokens of the entry's parameters, and their texts, by turns */
  GHashTable *values;    /* "%para1_x", "graph:%3" -> name in the model */
  guint counter;
} IrText;

/* Types */

static guint
element_number (const char *text, gsize length)
{
  static const struct
  {
    const char *name;
    guint number;
  } names[] = {
    { "Bool", 9 },    { "Int8", 3 },    { "Int16", 5 },    { "Int32", 6 },   { "Int64", 7 },    { "UInt8", 2 },     { "UInt16", 4 },
    { "UInt32", 12 }, { "UInt64", 13 }, { "Float16", 10 }, { "Float32", 1 }, { "Float64", 11 }, { "BFloat16", 16 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (strlen (names[i].name) == length && strncmp (names[i].name, text, length) == 0)
      return names[i].number;
  return 0;
}

/* "Tensor[Float32]" with the shape "(2, 3)". Returns: (nullable): a TensorProto */
static GByteArray *
tensor_type (const char *type, const char *shape)
{
  const char *begin = strstr (type, "Tensor["), *end = begin != NULL ? strchr (begin, ']') : NULL;
  guint number = end != NULL ? element_number (begin + strlen ("Tensor["), (gsize) (end - begin) - strlen ("Tensor[")) : 0;
  GByteArray *message;

  if (number == 0 || shape == NULL || *shape != '(')
    return NULL;
  message = g_byte_array_new ();
  for (shape++; *shape != '\0' && *shape != ')';)
    {
      char *after;
      gint64 size = g_ascii_strtoll (shape, &after, 10);

      if (after == shape)
        break;
      gantry_wire_put_int (message, 1, (guint64) size);
      shape = after + strspn (after, ", ");
    }
  gantry_wire_put_int (message, 2, number);
  return message;
}

/* The members of a tuple, whose types stand before their shapes; the same type several times as "Tensor[Float32]*2". */
static GByteArray *
tuple_type (const char *name, const char *text)
{
  GByteArray *attr = gantry_mind_export_attribute (name, 20);
  const char *type = strstr (text, "Tuple["), *shape = strstr (text, "TupleShape(");

  if (type == NULL || shape == NULL)
    return attr;
  type += strlen ("Tuple[");
  shape += strlen ("TupleShape(");
  while ((type = strstr (type, "Tensor[")) != NULL && type < shape)
    {
      const char *end = strchr (type, ']');
      guint64 times = end != NULL && end[1] == '*' ? CLAMP (g_ascii_strtoull (end + 2, NULL, 10), 1, MIND_MOST_OPERANDS) : 1;

      for (guint64 i = 0; i < times && end != NULL; i++)
        {
          const char *open = shape != NULL ? strchr (shape, '(') : NULL;
          GByteArray *tensor = open != NULL ? tensor_type (type, open) : NULL, *member = gantry_mind_export_attribute (NULL, 19);

          if (tensor != NULL)
            gantry_wire_put_message (member, 12, tensor);
          gantry_wire_put_message (attr, 17, member);
          shape = open != NULL ? strchr (open, ')') : NULL;
        }
      if (end == NULL || shape == NULL)
        break;
      type = end;
    }
  return attr;
}

/* "<Tensor[Float32], (2, 3)>": an attribute that says this type. */
static GByteArray *
declared (const char *name, const char *text)
{
  const char *comma = strchr (text, ','), *shape = strstr (text, ", (");
  GByteArray *attr, *tensor;
  guint number;

  if (g_str_has_prefix (text, "<Tuple["))
    return tuple_type (name, text);
  if (g_str_has_prefix (text, "<UMonad") || g_str_has_prefix (text, "<IOMonad"))
    return gantry_mind_export_attribute (name, MIND_TYPE_UMONAD);
  if (g_str_has_prefix (text, "<None"))
    return gantry_mind_export_attribute (name, MIND_TYPE_NONE);
  number = *text == '<' && comma != NULL ? element_number (text + 1, (gsize) (comma - text) - 1) : 0;
  if (number != 0)
    return gantry_mind_export_attribute (name, number);
  tensor = tensor_type (text, shape != NULL ? shape + 2 : NULL);
  attr = gantry_mind_export_attribute (name, tensor != NULL ? 19 : 0);
  if (tensor != NULL)
    gantry_wire_put_message (attr, 12, tensor);
  return attr;
}

/* Values */

/* Text up to the comma or bracket that ends it, brackets inside of it closed. Moves @at behind. Returns: (transfer full) */
static char *
next_argument (const char **at)
{
  const char *begin, *c;
  gint depth = 0;

  while (**at == ' ')
    (*at)++;
  begin = *at;
  for (c = begin; *c != '\0'; c++)
    if (strchr ("([{", *c) != NULL)
      depth++;
    else if (strchr (")]}", *c) != NULL && depth-- == 0)
      break;
    else if (*c == ',' && depth == 0)
      break;
  *at = *c == ',' || (*c != '\0' && *c != ')' && c == begin) ? c + 1 : c;
  return g_strndup (begin, (gsize) (c - begin));
}

static GByteArray *constant_value (const char *name, const char *text, guint depth);

static GByteArray *
constant_tuple (const char *name, const char *text, guint depth)
{
  GByteArray *attr = gantry_mind_export_attribute (name, 20);
  const char *at = text + 1;

  while (*at != '\0' && *at != ')' && *at != ']' && depth < MIND_MOST_NESTING)
    {
      g_autofree char *member = next_argument (&at);

      gantry_wire_put_message (attr, 17, constant_value (NULL, member, depth + 1));
    }
  return attr;
}

/* "I64(3)", "Bool(1)", "F32(0.5)", "(I64(1), I64(0))", "None", "UMonad[U]"; anything else is a word. */
static GByteArray *
constant_value (const char *name, const char *text, guint depth)
{
  const char *open = strchr (text, '(');
  GByteArray *attr;

  if (*text == '(' || *text == '[')
    return constant_tuple (name, text, depth);
  if (strstr (text, "Monad[") != NULL)
    return gantry_mind_export_attribute (name, MIND_TYPE_UMONAD);
  if (g_str_has_prefix (text, "None"))
    return gantry_mind_export_attribute (name, MIND_TYPE_NONE);
  if (open != NULL && (g_str_has_prefix (text, "I64(") || g_str_has_prefix (text, "I32(") || g_str_has_prefix (text, "Bool(")))
    {
      attr = gantry_mind_export_attribute (name, *text == 'B' ? MIND_TYPE_BOOL : MIND_TYPE_INT64);
      gantry_wire_put_int (attr, 3, (guint64) g_ascii_strtoll (open + 1, NULL, 10));
      return attr;
    }
  if (open != NULL && (g_str_has_prefix (text, "F32(") || g_str_has_prefix (text, "F64(")))
    {
      attr = gantry_mind_export_attribute (name, MIND_TYPE_FLOAT);
      gantry_wire_put_float (attr, 2, (float) g_ascii_strtod (open + 1, NULL));
      return attr;
    }
  attr = gantry_mind_export_attribute (name, MIND_TYPE_STRING);
  gantry_wire_put_string (attr, 5, text);
  return attr;
}

/* A parameter is told by its number, "%para11_x": what follows is not the same everywhere. */
static char *
parameter_key (const char *token)
{
  gsize digits = g_str_has_prefix (token, "%para") ? strspn (token + strlen ("%para"), "0123456789") : 0;

  return digits > 0 ? g_strndup (token, strlen ("%para") + digits) : g_strdup (token);
}

static char *
value_key (const IrText *text, const char *token)
{
  return token[0] != '\0' && g_ascii_isdigit (token[1]) ? g_strdup_printf ("%s:%s", text->name, token) : parameter_key (token);
}

/* The name of what an argument is; a constant becomes a node. */
static char *
argument_name (IrText *text, const char *token)
{
  g_autofree char *key = value_key (text, token), *other = NULL;
  const char *known = g_hash_table_lookup (text->values, key), *colon;
  GByteArray *node;
  char *name;

  if (known != NULL)
    return g_strdup (known);
  if (*token == '@')
    return g_strdup (token + 1);
  if (g_str_has_prefix (token, "$(@") && (colon = strrchr (token, ':')) != NULL)
    {
      /* Of a graph around this one: "$(@graph:para7_x)", "$(@graph:%3)", or by its label, "$(@graph:x)". */
      g_autofree char *inner = g_strndup (colon + 1, strcspn (colon + 1, ")")), *graph = g_strndup (token + 3, (gsize) (colon - token) - 3),
                      *parameter = g_strconcat ("%", inner, NULL), *number = parameter_key (parameter);

      other = g_strdup_printf ("%s:%s", graph, inner);
      known = g_hash_table_lookup (text->values, g_str_equal (number, parameter) ? other : number);
      return g_strdup (known != NULL ? known : token);
    }
  if (*token == '%')
    return g_strdup (token); /* given by no node before, which the reader says */
  name = g_strdup_printf ("constant:%u", ++text->counter);
  node = g_byte_array_new ();
  gantry_wire_put_string (node, 2, name);
  gantry_wire_put_string (node, 4, "Constant");
  gantry_wire_put_message (node, 5, constant_value ("value", token, 0));
  gantry_wire_put_message (text->graph, 1, node);
  return name;
}

/* Lines */

static void
end_node (IrText *text)
{
  if (text->node != NULL && text->place != NULL)
    gantry_wire_put_string (text->node, 6, text->place);
  if (text->node != NULL)
    gantry_wire_put_message (text->graph, 1, g_steal_pointer (&text->node));
  g_clear_pointer (&text->place, g_free);
}

static void
end_graph (IrText *text)
{
  end_node (text);
  if (text->graph == NULL)
    return;
  gantry_wire_put_string (text->graph, 2, text->name);
  if (g_strcmp0 (text->name, text->entry) == 0 && text->main == NULL)
    text->main = g_steal_pointer (&text->graph);
  else
    gantry_wire_put_message (text->functions, 8, g_steal_pointer (&text->graph));
}

/* A parameter of the entry has its own name, another its token's. */
static char *
input_name (const char *graph, const char *token, gboolean of_entry)
{
  const char *own = strchr (token, '_');

  return g_strdup_printf ("%s:%s", graph, of_entry && own != NULL ? own + 1 : token + 1);
}

/* @type: (nullable): what the text says of it, where it is one of the entry */
static void
add_input (IrText *text, const char *token, const char *type)
{
  g_autofree char *name = input_name (text->name, token, type != NULL);
  GByteArray *info = g_byte_array_new ();

  gantry_wire_put_string (info, 1, name);
  if (type != NULL)
    gantry_wire_put_message (info, 5, declared (NULL, type));
  gantry_wire_put_message (text->graph, 5, info);
  g_hash_table_replace (text->values, parameter_key (token), g_steal_pointer (&name));
}

/* "subgraph @name parent: [...](%para4_x, %para5_u) {" */
static void
begin_graph (IrText *text, const char *line)
{
  const char *name = strchr (line, '@') + 1, *open = strrchr (line, '('), *at = open != NULL ? open + 1 : "";

  end_graph (text);
  g_free (text->name);
  text->name = g_strndup (name, strcspn (name, " ("));
  text->graph = g_byte_array_new ();
  if (g_strcmp0 (text->name, text->entry) == 0)
    for (guint i = 0; i + 1 < text->parameters->len; i += 2)
      add_input (text, g_ptr_array_index (text->parameters, i), g_ptr_array_index (text->parameters, i + 1));
  while (*at == '%' || *at == ' ')
    {
      g_autofree char *token = next_argument (&at);

      if (*token == '%')
        add_input (text, token, NULL);
    }
}

/* What is called: a primitive, "call @graph", "@graph", or a value, "%11[@FuncUnion(...)]". */
static char *
operation_of (IrText *text, const char *operation)
{
  g_autofree char *token = NULL, *name = NULL;

  if (g_str_has_prefix (operation, "call "))
    operation += strlen ("call ");
  if (*operation == '%' || *operation == '@' || *operation == '$')
    {
      token = g_strndup (operation, strcspn (operation, "["));
      name = argument_name (text, token);
      return g_strconcat ("REF::", name, NULL);
    }
  if (g_str_has_prefix (operation, "PrimFunc_"))
    operation += strlen ("PrimFunc_");
  return g_strdup (*operation != '\0' ? operation : "unknown");
}

/* "%3(label) = Operation[...](arguments) ...": the bracket that opens the arguments stands in no other. */
static void
begin_node (IrText *text, const char *line)
{
  const char *equals = strstr (line, ") = "), *open, *at;
  g_autofree char *token = g_strndup (line, strcspn (line, "(")), *key = NULL, *label = NULL, *operation = NULL, *reference = NULL, *plain = NULL;
  char *output;
  gint depth = 0;

  end_node (text);
  if (equals == NULL || equals < line + strlen (token) + 1) /* the label's bracket opens behind what ends it */
    return;
  for (open = equals + strlen (") = "); *open != '\0' && (*open != '(' || depth > 0); open++)
    depth += *open == '[' ? 1 : *open == ']' ? -1 : 0;
  operation = g_strndup (equals + strlen (") = "), (gsize) (open - equals) - strlen (") = "));
  label = g_strndup (line + strlen (token) + 1, (gsize) (equals - line) - strlen (token) - 1);
  plain = g_strdelimit (g_strdup (label), ":", '_');
  output = g_strdup_printf ("%s:%s:%s", text->name, plain, token + 1);
  reference = operation_of (text, operation);
  text->node = g_byte_array_new ();
  at = *open == '(' ? open + 1 : open;
  while (*at != '\0' && *at != ')')
    {
      g_autofree char *argument = next_argument (&at), *name = *argument != '\0' ? argument_name (text, argument) : NULL;

      if (name != NULL)
        gantry_wire_put_string (text->node, 1, name);
    }
  gantry_wire_put_string (text->node, 2, output);
  gantry_wire_put_string (text->node, 4, reference);
  key = g_strdup_printf ("%s:%s", text->name, label);
  g_hash_table_replace (text->values, g_steal_pointer (&key), g_strdup (output));
  key = value_key (text, token);
  g_hash_table_replace (text->values, g_steal_pointer (&key), output);
}

static void
set_output (IrText *text, const char *line)
{
  const char *at = line + strlen ("Return(");
  g_autofree char *token = next_argument (&at), *name = NULL;
  GByteArray *info = g_byte_array_new ();

  end_node (text);
  name = argument_name (text, token);
  gantry_wire_put_string (info, 1, name);
  gantry_wire_put_message (text->graph, 6, info);
}

/* "In file path:7~11, 4~16/text/": the innermost place that is not in MindSpore itself. */
static void
set_place (IrText *text, const char *line)
{
  const char *path = line + strlen ("# In file "), *colon = strchr (path, ':');
  gsize digits = colon != NULL ? strspn (colon + 1, "0123456789") : 0;

  if (digits == 0 || g_strstr_len (path, colon - path, "/mindspore/") != NULL)
    return;
  g_free (text->place);
  text->place = g_strndup (path, (gsize) (colon - path) + 1 + digits);
}

static void
read_line (IrText *text, char *line)
{
  const char *arrow;

  line = g_strstrip (line);
  if (g_str_has_prefix (line, "# IR entry: @"))
    {
      g_free (text->entry);
      text->entry = g_strndup (line + strlen ("# IR entry: @"), strcspn (line + strlen ("# IR entry: @"), " "));
    }
  else if (g_str_has_prefix (line, "%para") && text->graph == NULL && strstr (line, ": <") != NULL)
    {
      char *token = g_strndup (line, (gsize) (strstr (line, ": <") - line));

      /* Graphs that stand before the entry read them too. */
      if (text->entry != NULL)
        g_hash_table_replace (text->values, parameter_key (token), input_name (text->entry, token, TRUE));
      g_ptr_array_add (text->parameters, token);
      g_ptr_array_add (text->parameters, g_strdup (strstr (line, ": <") + 2));
    }
  else if (g_str_has_prefix (line, "subgraph @"))
    begin_graph (text, line);
  else if (text->graph == NULL)
    return;
  else if (*line == '}')
    end_graph (text);
  else if (*line == '%')
    begin_node (text, line);
  else if (g_str_has_prefix (line, "Return("))
    set_output (text, line);
  else if (text->node != NULL && *line == ':' && (arrow = strstr (line, "-> (")) != NULL)
    gantry_wire_put_message (text->node, 5, declared ("shape", arrow + strlen ("-> (")));
  else if (text->node != NULL && g_str_has_prefix (line, "# Fullname with scope: ("))
    {
      const char *scope = line + strlen ("# Fullname with scope: (");

      gantry_wire_put_bytes (text->node, 7, scope, strcspn (scope, ")"));
    }
  else if (text->node != NULL && g_str_has_prefix (line, "# In file "))
    set_place (text, line);
}

GBytes *
gantry_mind_from_text (GBytes *bytes)
{
  IrText text = { .functions = g_byte_array_new (), .parameters = g_ptr_array_new_with_free_func (g_free) };
  GByteArray *model = g_byte_array_new ();
  gsize size;
  const char *at = g_bytes_get_data (bytes, &size), *end = at != NULL ? at + size : NULL;

  text.values = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  while (at < end)
    {
      const char *newline = memchr (at, '\n', (gsize) (end - at)), *stop = newline != NULL ? newline : end;
      g_autofree char *line = g_strndup (at, (gsize) (stop - at));

      read_line (&text, line);
      at = newline != NULL ? newline + 1 : end;
    }
  end_graph (&text);
  gantry_wire_put_string (model, 2, "MindSpore");
  if (text.main != NULL)
    gantry_wire_put_message (model, 7, text.main);
  g_byte_array_append (model, text.functions->data, text.functions->len);
  g_byte_array_unref (text.functions);
  g_ptr_array_unref (text.parameters);
  g_hash_table_unref (text.values);
  g_free (text.entry);
  g_free (text.name);
  g_free (text.place);
  return g_byte_array_free_to_bytes (model);
}
