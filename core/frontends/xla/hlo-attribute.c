/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes of an instruction. Those that the rules read get the names and forms of the StableHLO specification,
 * computations become regions, metadata becomes place and scope; everything else stays as the text that it is. */
#include "core/frontends/xla/hlo-private.h"

#define MOST_TEXT 4096

static const struct
{
  const char *opcode, *hlo, *attribute;
} names[] = {
  { "broadcast", "dimensions", "broadcast_dimensions" },
  { "transpose", "dimensions", "permutation" },
  { "concatenate", "dimensions", "dimension" },
  { "sort", "dimensions", "dimension" },
  { "get-dimension-size", "dimensions", "dimension" },
  { "dynamic-slice", "dynamic_slice_sizes", "slice_sizes" },
  { "compare", "direction", "comparison_direction" },
  { "compare", "type", "compare_type" },
  { NULL, "lhs_batch_dims", "lhs_batching_dimensions" },
  { NULL, "rhs_batch_dims", "rhs_batching_dimensions" },
  { NULL, "lhs_contracting_dims", "lhs_contracting_dimensions" },
  { NULL, "rhs_contracting_dims", "rhs_contracting_dimensions" },
  { NULL, "custom_call_target", "call_target_name" },
};

static const char *
attribute_name (GantryXlaSpan opcode, const char *key)
{
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (strcmp (names[i].hlo, key) == 0 && (names[i].opcode == NULL || gantry_xla_span_is (opcode, names[i].opcode)))
      return names[i].attribute;
  return key;
}

static GantryXlaScan
inside (const Hlo *h, GantryXlaSpan span)
{
  GantryXlaScan s = h->s;

  s.at = span.at;
  s.end = span.at + span.length;
  s.error = NULL;
  return s;
}

/* Numbers, whatever stands between them. */
static void
numbers (GantryXlaSpan span, GArray *ints)
{
  const char *at = span.at, *end = span.at + span.length;

  while (at < end)
    {
      gboolean negative = *at == '-';
      gint64 value = 0;

      at += negative;
      if (at >= end || !g_ascii_isdigit (*at))
        {
          at += !negative;
          continue;
        }
      for (; at < end && g_ascii_isdigit (*at); at++)
        value = value > G_MAXINT64 / 16 ? value : value * 10 + (*at - '0');
      value = negative ? -value : value;
      g_array_append_val (ints, value);
    }
}

/* Every @step-th of @ints from @first on. */
static void
set_ints (GantryAttrList *attrs, const char *key, const GArray *ints, guint first, guint step)
{
  g_autofree gint64 *values = g_new (gint64, ints->len + 1);
  guint n = 0;

  for (guint i = first; i < ints->len; i += step)
    values[n++] = g_array_index (ints, gint64, i);
  gantry_attr_list_set_ints (attrs, key, values, n);
}

/* "{[0:10:2], [3:4]}" */
static void
slice (HloAttributes *a, GantryXlaSpan span)
{
  g_autoptr (GArray) ints = g_array_new (FALSE, FALSE, sizeof (gint64));
  const char *at = span.at, *end = span.at + span.length;

  while ((at = memchr (at, '[', (gsize) (end - at))) != NULL)
    {
      const char *close = memchr (at, ']', (gsize) (end - at));
      guint before = ints->len;
      gint64 one = 1;

      if (close == NULL)
        return;
      numbers ((GantryXlaSpan){ at, (gsize) (close - at) }, ints);
      if (ints->len == before + 2)
        g_array_append_val (ints, one);
      if (ints->len != before + 3)
        return;
      at = close;
    }
  set_ints (a->attrs, "start_indices", ints, 0, 3);
  set_ints (a->attrs, "limit_indices", ints, 1, 3);
  set_ints (a->attrs, "strides", ints, 2, 3);
}

/* "0_0_0x1_1": low, high and, where it is not 0, interior. */
static void
padding (HloAttributes *a, GantryXlaSpan span)
{
  g_autoptr (GArray) ints = g_array_new (FALSE, FALSE, sizeof (gint64));
  const char *at = span.at, *end = span.at + span.length;

  while (at < end)
    {
      const char *next = memchr (at, 'x', (gsize) (end - at));
      guint before = ints->len;
      gint64 none = 0;

      next = next != NULL ? next : end;
      numbers ((GantryXlaSpan){ at, (gsize) (next - at) }, ints);
      if (ints->len == before + 2)
        g_array_append_val (ints, none);
      if (ints->len != before + 3)
        return;
      at = next + 1;
    }
  set_ints (a->attrs, "edge_padding_low", ints, 0, 3);
  set_ints (a->attrs, "edge_padding_high", ints, 1, 3);
  set_ints (a->attrs, "interior_padding", ints, 2, 3);
}

/* "{size=3x3 stride=2x2 pad=0_1x0_1 lhs_dilate=1x1 rhs_dilate=1x1 rhs_reversal=0x0}" */
static void
window (Hlo *h, HloAttributes *a, GantryXlaSpan opcode, GantryXlaSpan span)
{
  gboolean pools = gantry_xla_span_is (opcode, "reduce-window") || gantry_xla_span_is (opcode, "select-and-scatter");
  const struct
  {
    const char *key, *attribute;
  } keys[] = {
    { "size", "window_dimensions" },
    { "stride", "window_strides" },
    { "pad", "padding" },
    { "lhs_dilate", pools ? "base_dilations" : "lhs_dilation" },
    { "rhs_dilate", pools ? "window_dilations" : "rhs_dilation" },
    { "rhs_reversal", "window_reversal" },
  };
  GantryXlaScan s = inside (h, span);

  gantry_xla_scan_accept (&s, "{");
  while (s.error == NULL && gantry_xla_scan_peek (&s) != 0 && gantry_xla_scan_peek (&s) != '}')
    {
      GantryXlaSpan key = gantry_xla_scan_word (&s, FALSE);
      GantryXlaSpan value = { s.at + 1, 0 };

      if (key.length == 0 || !gantry_xla_scan_accept (&s, "="))
        break;
      while (s.at < s.end && *s.at != ' ' && *s.at != '}')
        s.at++;
      value.length = (gsize) (s.at - value.at);
      for (guint i = 0; i < G_N_ELEMENTS (keys); i++)
        if (gantry_xla_span_is (key, keys[i].key))
          {
            g_autoptr (GArray) ints = g_array_new (FALSE, FALSE, sizeof (gint64));

            numbers (value, ints);
            set_ints (a->attrs, keys[i].attribute, ints, 0, 1);
          }
    }
  g_clear_error (&s.error);
}

/* "b01f_01io->b01f" is "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]". */
static void
dim_labels (HloAttributes *a, GantryXlaSpan span)
{
  g_autoptr (GString) text = g_string_new ("[");

  for (gsize i = 0; i < span.length && i < 256; i++)
    if (span.at[i] == '_')
      g_string_append (text, "]x[");
    else if (span.at[i] == '-' || span.at[i] == '>')
      g_string_append (text, span.at[i] == '-' ? "]->[" : "");
    else
      g_string_append_printf (text, "%s%c", text->str[text->len - 1] != '[' ? ", " : "", g_ascii_isprint (span.at[i]) ? span.at[i] : '?');
  g_string_append_c (text, ']');
  gantry_attr_list_set_string (a->attrs, "dim_numbers", text->str);
}

void
gantry_hlo_set_place (Hlo *h, HloAttributes *a, const HloPlace *place)
{
  const HloFileLocation *frame = gantry_hlo_frame (h->module < h->tables->len ? g_ptr_array_index (h->tables, h->module) : NULL, place->frame);

  if (place->name != NULL)
    {
      a->scope = gantry_xla_scope_of (h->context, place->name);
      gantry_attr_list_set_string (a->attrs, "op_name", place->name);
    }
  if (place->file != NULL && *place->file != 0)
    a->location = (GantryLocation){ .file = gantry_context_intern (h->context, place->file),
                                    .line = (guint32) CLAMP (place->line, 0, G_MAXINT32),
                                    .column = (guint32) CLAMP (place->column, 0, G_MAXINT32) };
  else if (frame != NULL && frame->file != 0)
    a->location = (GantryLocation){ .file = frame->file, .line = frame->line, .column = frame->column };
}

/* "{op_type="add" op_name="jit(f)/add" source_file="net.py" source_line=7 stack_frame_id=3}" */
static void
metadata (Hlo *h, HloAttributes *a, GantryXlaSpan span)
{
  GantryXlaScan s = inside (h, span);
  HloPlace place = { 0 };
  g_autofree char *name = NULL, *file = NULL;

  gantry_xla_scan_accept (&s, "{");
  while (s.error == NULL && gantry_xla_scan_peek (&s) != 0 && gantry_xla_scan_peek (&s) != '}')
    {
      GantryXlaSpan key = gantry_xla_scan_word (&s, FALSE);
      g_autofree char *text = NULL;
      gint64 number = 0;
      char c;

      if (key.length == 0 || !gantry_xla_scan_accept (&s, "="))
        break;
      c = gantry_xla_scan_peek (&s);
      if (c == '"')
        text = gantry_xla_scan_string (&s);
      else if (g_ascii_isdigit (c) || c == '-')
        number = gantry_xla_scan_int (&s);
      else if (c == '{')
        gantry_xla_scan_bracket (&s);
      else if (gantry_xla_scan_word (&s, FALSE).length == 0)
        break;
      if (text != NULL && gantry_xla_span_is (key, "op_name") && name == NULL)
        place.name = name = g_steal_pointer (&text);
      else if (text != NULL && gantry_xla_span_is (key, "source_file") && file == NULL)
        place.file = file = g_steal_pointer (&text);
      else if (gantry_xla_span_is (key, "source_line"))
        place.line = number;
      else if (gantry_xla_span_is (key, "source_column"))
        place.column = number;
      else if (gantry_xla_span_is (key, "stack_frame_id"))
        place.frame = number;
      gantry_xla_scan_accept (&s, ",");
    }
  g_clear_error (&s.error);
  gantry_hlo_set_place (h, a, &place);
}

static void
placement (Hlo *h, HloAttributes *a, GantryXlaSpan span)
{
  const char *key = "_xla_buffer_placement=\"";
  const char *at = g_strstr_len (span.at, (gssize) span.length, key), *end;

  if (at == NULL)
    return;
  at += strlen (key);
  end = memchr (at, '"', (gsize) (span.at + span.length - at));
  if (end != NULL)
    a->placement = gantry_context_intern_len (h->context, at, (gsize) (end - at));
}

/* "%a", "a", "{%a, %b}": computations, where such are named. */
static void
computations (Hlo *h, GantryXlaSpan span, GArray *found)
{
  GantryXlaScan s = inside (h, span);

  gantry_xla_scan_accept (&s, "{");
  while (s.error == NULL && gantry_xla_scan_peek (&s) != 0 && gantry_xla_scan_peek (&s) != '}')
    {
      GantryXlaSpan name;
      gint index;

      gantry_xla_scan_accept (&s, "%");
      name = gantry_xla_scan_word (&s, TRUE);
      if (name.length == 0)
        break;
      index = gantry_hlo_find (h, name);
      if (index >= 0)
        g_array_append_val (found, index);
      gantry_xla_scan_accept (&s, ",");
    }
  g_clear_error (&s.error);
}

static gboolean
names_computations (const char *key)
{
  static const char *const keys[] = { "to_apply", "condition", "body",      "true_computation", "false_computation", "branch_computations",
                                      "select",   "scatter",   "comparator" };

  for (guint i = 0; i < G_N_ELEMENTS (keys); i++)
    if (strcmp (keys[i], key) == 0)
      return TRUE;
  return FALSE;
}

static void
set_value (HloAttributes *a, const char *key, GantryXlaSpan value)
{
  g_autoptr (GArray) ints = g_array_new (FALSE, FALSE, sizeof (gint64));
  gboolean list = value.length >= 2 && value.at[0] == '{', plain = value.length > 0;
  g_autofree char *text = NULL, *valid = NULL;

  for (gsize i = list; i + list < value.length; i++)
    plain = plain && (g_ascii_isdigit (value.at[i]) || strchr (" ,-", value.at[i]) != NULL) && value.at[i] != 0;
  if (plain)
    numbers (value, ints);
  if (plain && (strcmp (key, "dimension") == 0 || !list) && ints->len == 1)
    gantry_attr_list_set_int (a->attrs, key, g_array_index (ints, gint64, 0));
  else if (plain && list)
    set_ints (a->attrs, key, ints, 0, 1);
  else if (gantry_xla_span_is (value, "true") || gantry_xla_span_is (value, "false"))
    gantry_attr_list_set_int (a->attrs, key, value.at[0] == 't');
  else
    {
      gboolean quoted = value.length >= 2 && value.at[0] == '"';

      text = g_strndup (value.at + quoted, MIN (value.length - 2 * quoted, MOST_TEXT));
      valid = g_utf8_make_valid (text, -1);
      if (strcmp (key, "epsilon") == 0)
        gantry_attr_list_set_float (a->attrs, key, g_ascii_strtod (valid, NULL));
      else
        gantry_attr_list_set_string (a->attrs, key, valid);
    }
}

void
gantry_hlo_attribute (Hlo *h, const HloInstruction *inst, HloAttributes *a, const char *key, GantryXlaSpan value)
{
  if (strcmp (key, "n_captures") == 0)
    return; /* the reader's own, not the text's */
  if (strcmp (key, "metadata") == 0)
    metadata (h, a, value);
  else if (strcmp (key, "calls") == 0)
    {
      g_autoptr (GArray) found = g_array_new (FALSE, FALSE, sizeof (gint));

      computations (h, value, found);
      a->fusion = found->len > 0 ? g_array_index (found, gint, 0) : -1;
      set_value (a, key, value);
    }
  else if (names_computations (key))
    computations (h, value, a->regions);
  else if (strcmp (key, "window") == 0)
    window (h, a, inst->opcode, value);
  else if (strcmp (key, "dim_labels") == 0)
    dim_labels (a, value);
  else if (strcmp (key, "slice") == 0)
    slice (a, value);
  else if (strcmp (key, "padding") == 0)
    padding (a, value);
  else
    {
      if (strcmp (key, "frontend_attributes") == 0)
        placement (h, a, value);
      set_value (a, attribute_name (inst->opcode, key), value);
      if (strcmp (key, "index") == 0)
        {
          g_autofree char *text = g_strndup (value.at, MIN (value.length, 20));

          a->index = g_ascii_strtoll (text, NULL, 10);
        }
      if (strcmp (key, "custom_call_target") == 0 && value.length >= 2)
        a->target = gantry_context_intern_len (h->context, value.at + 1, value.length - 2);
    }
}

void
gantry_hlo_attributes (Hlo *h, const HloInstruction *inst, HloAttributes *a)
{
  GantryXlaScan before = h->s;
  GantryXlaScan *s = &h->s;

  if (h->proto != NULL)
    {
      gantry_hlo_proto_attributes (h, inst, a);
      return;
    }
  gantry_xla_scan_go (s, &inst->attributes);
  while (s->error == NULL && gantry_xla_scan_accept (s, ","))
    {
      GantryXlaSpan key = gantry_xla_scan_word (s, TRUE), value;
      g_autofree char *name = gantry_xla_span_dup (key);

      if (key.length == 0 || !gantry_xla_scan_accept (s, "="))
        break;
      value = gantry_xla_scan_value (s, TRUE);
      gantry_hlo_attribute (h, inst, a, name, value);
    }
  before.error = s->error;
  if (before.error != NULL)
    before.at = before.end;
  h->s = before;
}
