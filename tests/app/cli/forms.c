/* SPDX-License-Identifier: Apache-2.0 */
/* The texts of the forms. A layer is written once, for entry functions and bodies alike; a form is what stands around. */
#include "tests/app/cli/forms.h"
#include <string.h>

#define MOST_EXTRAS 2
#define MOST_IDS 16

/* What goes into a layer and comes out of it, as node ids: h and the carries of the flavour; w and b; the ys. */
typedef struct
{
  guint carries[1 + MOST_EXTRAS];
  guint w, b;
  guint ys[2];
} Layer;

typedef struct
{
  GString *text;
  FormShape shape;
  FormFlavour flavour;
  guint next; /* node id */
} Writer;

static const char *const shape_names[] = {
  "unrolled", "separate", "calls", "scan", "scan-axis-1", "scan-axis-2", "reversed", "nested", "nested-inner-reversed", "nested-reversed", "while"
};
static const char *const flavour_names[] = { "plain",   "copies",  "two-kinds", "converted", "host-parameters", "unused-carries",
                                             "barrier", "counter", "sort",      "random",    "branch" };
G_STATIC_ASSERT (G_N_ELEMENTS (shape_names) == FORM_N_SHAPES);
G_STATIC_ASSERT (G_N_ELEMENTS (flavour_names) == FORM_N_FLAVOURS);

const char *
form_shape_name (FormShape shape)
{
  return shape_names[shape];
}

const char *
form_flavour_name (FormFlavour flavour)
{
  return flavour_names[flavour];
}

gboolean
form_flavour_is_neutral (FormFlavour flavour)
{
  return flavour < FORM_COUNTER;
}

/* What a flavour carries besides h, and with what it begins. */

static guint
n_extras (FormFlavour flavour)
{
  return flavour == FORM_UNUSED_CARRIES ? 2 : flavour == FORM_COUNTER || flavour == FORM_RANDOM ? 1 : 0;
}

static const char *
extra_type (FormFlavour flavour)
{
  return flavour == FORM_UNUSED_CARRIES ? "f32[3,8]" : flavour == FORM_COUNTER ? "i32[]" : "u64[2]";
}

static const char *
extra_start (FormFlavour flavour)
{
  return flavour == FORM_UNUSED_CARRIES ? "splat<f32[3,8]: 0.5>" : flavour == FORM_COUNTER ? "dense<i32[]: 1>" : "dense<u64[2]: 7, 3>";
}

static guint
n_ys (FormFlavour flavour)
{
  return flavour == FORM_TWO_KINDS ? 2 : 1;
}

static const char *
host (const Writer *writer)
{
  return writer->flavour == FORM_HOST_PARAMETERS ? "@pinned_host" : "";
}

/* One node; the format says all after "%N = ". Returns its id */
static guint G_GNUC_PRINTF (2, 3) node (Writer *writer, const char *format, ...)
{
  va_list list;

  g_string_append_printf (writer->text, "    %%%u = ", writer->next);
  va_start (list, format);
  g_string_append_vprintf (writer->text, format, list);
  va_end (list);
  g_string_append_c (writer->text, '\n');
  return writer->next++;
}

/* tanh (z), or what the flavour makes of it. */
static guint
activation (Writer *writer, Layer *layer, guint z)
{
  guint a, b;

  switch ((int) writer->flavour)
    {
    case FORM_COPIES:
      a = node (writer, "copy(%%%u) {memory = \"pinned_host\"}: f32[3,8]@pinned_host", z);
      z = node (writer, "copy(%%%u) {memory = \"device\"}: f32[3,8]", a);
      break;
    case FORM_CONVERTED:
      a = node (writer, "convert(%%%u) {to = type f64[]}: f64[3,8]", z);
      a = node (writer, "copy(%%%u) {memory = \"pinned_host\"}: f64[3,8]@pinned_host", a);
      a = node (writer, "copy(%%%u) {memory = \"device\"}: f64[3,8]", a);
      z = node (writer, "convert(%%%u) {to = type f32[]}: f32[3,8]", a);
      break;
    case FORM_BARRIER: z = node (writer, "optimization_barrier(%%%u): f32[3,8]", z); break;
    case FORM_COUNTER:
      a = node (writer, "convert(%%%u) {to = type f32[]}: f32[]", layer->carries[1]);
      a = node (writer, "broadcast_in_dim(%%%u) {shape = [3,8], broadcast_dimensions = ints[]}: f32[3,8]", a);
      z = node (writer, "multiply(%%%u, %%%u): f32[3,8]", z, a);
      a = node (writer, "constant() {value = dense<i32[]: 1>}: i32[]");
      layer->carries[1] = node (writer, "add(%%%u, %%%u): i32[]", layer->carries[1], a);
      break;
    case FORM_SORT:
      a = node (writer, "sort(%%%u, %%%u) {dimension = 1, descending = 0, stable = 1}: (f32[3,8], f32[3,8])", z, layer->carries[0]);
      b = node (writer, "result(%%%u) {index = 1}: f32[3,8]", a);
      a = node (writer, "result(%%%u) {index = 0}: f32[3,8]", a);
      z = node (writer, "multiply(%%%u, %%%u): f32[3,8]", a, b);
      break;
    case FORM_RANDOM:
      a = node (writer, "rng_bit_generator(%%%u) {shape = [3,8], to = type u32[]}: (u64[2], u32[3,8])", layer->carries[1]);
      layer->carries[1] = node (writer, "result(%%%u) {index = 0}: u64[2]", a);
      a = node (writer, "result(%%%u) {index = 1}: u32[3,8]", a);
      b = node (writer, "constant() {value = splat<u32[3,8]: 1073741824>}: u32[3,8]");
      a = node (writer, "compare(%%%u, %%%u) {comparison_direction = \"GE\"}: bool[3,8]", a, b);
      a = node (writer, "convert(%%%u) {to = type f32[]}: f32[3,8]", a);
      z = node (writer, "multiply(%%%u, %%%u): f32[3,8]", z, a);
      break;
    case FORM_BRANCH:
      a = node (writer, "reduce(%%%u) {kind = \"add\", dimensions = [0,1]}: f32[]", z);
      b = node (writer, "constant() {value = dense<f32[]: 0.0>}: f32[]");
      a = node (writer, "compare(%%%u, %%%u) {comparison_direction = \"GT\"}: bool[]", a, b);
      return node (writer, "if(%%%u, %%%u) {then = #8, else = #9}: f32[3,8]", a, z);
    case FORM_UNUSED_CARRIES: layer->carries[1] = node (writer, "sine(%%%u): f32[3,8]", z); break;
    default: break;
    }
  return node (writer, "tanh(%%%u): f32[3,8]", z);
}

/* Replaces the carries of @layer by those after it, and sets its ys. */
static void
write_layer (Writer *writer, Layer *layer)
{
  guint h = node (writer, "checkpoint_name(%%%u) {name = \"h\"}: f32[3,8]", layer->carries[0]), w = layer->w, b = layer->b, z, a;

  if (writer->flavour == FORM_HOST_PARAMETERS)
    {
      w = node (writer, "copy(%%%u) {memory = \"device\"}: f32[8,8]", w);
      b = node (writer, "copy(%%%u) {memory = \"device\"}: f32[8]", b);
    }
  z = node (writer, "dot_general(%%%u, %%%u) {lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]}: f32[3,8]", h, w);
  b = node (writer, "broadcast_in_dim(%%%u) {shape = [3,8], broadcast_dimensions = [1]}: f32[3,8]", b);
  z = node (writer, "add(%%%u, %%%u): f32[3,8]", z, b);
  z = node (writer, "checkpoint_name(%%%u) {name = \"z\"}: f32[3,8]", z);
  a = activation (writer, layer, z);
  a = node (writer, "checkpoint_name(%%%u) {name = \"a\"}: f32[3,8]", a);
  layer->ys[0] = node (writer, "multiply(%%%u, %%%u): f32[3,8]", a, h);
  layer->carries[0] = node (writer, "add(%%%u, %%%u): f32[3,8]", layer->ys[0], a);
  if (n_ys (writer->flavour) == 2)
    layer->ys[1] = node (writer, "copy(%%%u) {memory = \"pinned_host\"}: f32[3,8]@pinned_host", layer->ys[0]);
}

static void
ids (Writer *writer, const guint *list, guint n)
{
  for (guint i = 0; i < n; i++)
    g_string_append_printf (writer->text, i == 0 ? "%%%u" : ", %%%u", list[i]);
}

/* "f32[3,8], i32[], f32[4,3,8]": the types of a layer's or a loop's results. */
static void
result_types (Writer *writer, const char *y_type)
{
  g_string_append (writer->text, "(f32[3,8]");
  for (guint i = 0; i < n_extras (writer->flavour); i++)
    g_string_append_printf (writer->text, ", %s", extra_type (writer->flavour));
  for (guint i = 0; i < n_ys (writer->flavour); i++)
    g_string_append_printf (writer->text, ", %s%s", y_type, i == 1 ? "@pinned_host" : "");
  g_string_append_c (writer->text, ')');
}

/* The results of a layer or a loop taken out of the tuple @from. */
static void
take_results (Writer *writer, Layer *layer, guint from, const char *y_type)
{
  guint n = 0;

  layer->carries[0] = node (writer, "result(%%%u) {index = %u}: f32[3,8]", from, n++);
  for (guint i = 0; i < n_extras (writer->flavour); i++)
    layer->carries[1 + i] = node (writer, "result(%%%u) {index = %u}: %s", from, n++, extra_type (writer->flavour));
  for (guint i = 0; i < n_ys (writer->flavour); i++)
    layer->ys[i] = node (writer, "result(%%%u) {index = %u}: %s%s", from, n++, y_type, i == 1 ? "@pinned_host" : "");
}

static guint
axis_of (FormShape shape)
{
  return shape == FORM_SCAN_AXIS_1 ? 1 : shape == FORM_SCAN_AXIS_2 ? 2 : 0;
}

static const char *
stacked_w (FormShape shape)
{
  static const char *const types[] = { "f32[4,8,8]", "f32[8,4,8]", "f32[8,8,4]" };

  return types[axis_of (shape)];
}

static const char *
stacked_b (FormShape shape)
{
  return axis_of (shape) == 0 ? "f32[4,8]" : "f32[8,4]";
}

static const char *
stacked_y (FormShape shape)
{
  static const char *const types[] = { "f32[4,3,8]", "f32[3,4,8]", "f32[3,8,4]" };

  return types[axis_of (shape)];
}

/* The head of function @id of a layer's carries, @w_type and @b_type; sets the ids of @layer. */
static void
begin_body (Writer *writer, guint id, Layer *layer, const char *w_type, const char *b_type)
{
  g_string_append_printf (writer->text, "  func @body%u #%u (%%%u: f32[3,8]", id, id, writer->next);
  layer->carries[0] = writer->next++;
  for (guint i = 0; i < n_extras (writer->flavour); i++)
    {
      layer->carries[1 + i] = writer->next++;
      g_string_append_printf (writer->text, ", %%%u: %s", layer->carries[1 + i], extra_type (writer->flavour));
    }
  layer->w = writer->next++;
  layer->b = writer->next++;
  g_string_append_printf (writer->text, ", %%%u: %s%s, %%%u: %s%s) -> (", layer->w, w_type, host (writer), layer->b, b_type, host (writer));
}

/* The body's results stand in its head, before its nodes are written: @at is where. */
static void
end_body (Writer *writer, const Layer *layer, gsize at)
{
  g_autoptr (GString) list = g_string_new (NULL);

  for (guint i = 0; i < 1 + n_extras (writer->flavour); i++)
    g_string_append_printf (list, "%s%%%u", i == 0 ? "" : ", ", layer->carries[i]);
  for (guint i = 0; i < n_ys (writer->flavour); i++)
    g_string_append_printf (list, ", %%%u", layer->ys[i]);
  g_string_append (list, ") {\n");
  g_string_insert (writer->text, (gssize) at, list->str);
  g_string_append (writer->text, "  }\n");
}

static void
write_layer_function (Writer *writer, guint id)
{
  Layer layer;
  gsize at;

  begin_body (writer, id, &layer, "f32[8,8]", "f32[8]");
  at = writer->text->len;
  write_layer (writer, &layer);
  end_body (writer, &layer, at);
}

/* A scan over the carries and w and b of @layer. */
static void
write_scan (Writer *writer, Layer *layer, guint body, guint length, gboolean reverse, guint axis, const char *y_type)
{
  guint operands[MOST_IDS], n = 0, id = writer->next++;

  for (guint i = 0; i < 1 + n_extras (writer->flavour); i++)
    operands[n++] = layer->carries[i];
  operands[n++] = layer->w;
  operands[n++] = layer->b;
  g_string_append_printf (writer->text, "    %%%u = scan(", id);
  ids (writer, operands, n);
  g_string_append_printf (writer->text, ") {axes = [%u, %u], body = #%u, length = %u, n_carries = %u, n_xs = 2%s, y_axes = [%u%s]}: ", axis, MIN (axis, 1),
                          body, length, 1 + n_extras (writer->flavour), reverse ? ", reverse = 1" : "", axis,
                          n_ys (writer->flavour) == 1 ? ""
                          : axis == 0                 ? ", 0"
                          : axis == 1                 ? ", 1"
                                                      : ", 2");
  result_types (writer, y_type);
  g_string_append (writer->text, " scope(\"layers\")\n");
  take_results (writer, layer, id, y_type);
}

static void
write_nested_function (Writer *writer)
{
  Layer layer;
  gsize at;

  begin_body (writer, 2, &layer, "f32[2,8,8]", "f32[2,8]");
  at = writer->text->len;
  write_scan (writer, &layer, 3, 2, writer->shape != FORM_NESTED, 0, "f32[2,3,8]");
  end_body (writer, &layer, at);
  write_layer_function (writer, 3);
}

static void
write_nested (Writer *writer, Layer *layer)
{
  layer->w = node (writer, "reshape(%%%u) {shape = [2,2,8,8]}: f32[2,2,8,8]%s", layer->w, host (writer));
  layer->b = node (writer, "reshape(%%%u) {shape = [2,2,8]}: f32[2,2,8]%s", layer->b, host (writer));
  write_scan (writer, layer, 2, 2, writer->shape == FORM_NESTED_REVERSED, 0, "f32[2,2,3,8]");
  for (guint i = 0; i < n_ys (writer->flavour); i++)
    layer->ys[i] = node (writer, "reshape(%%%u) {shape = [4,3,8]}: f32[4,3,8]%s", layer->ys[i], i == 1 ? "@pinned_host" : "");
}

/* Layer @i of an unrolled form: its parameters, and the layer itself or a call of it. */
static void
write_one (Writer *writer, Layer *layer, const Layer *stacked, guint i)
{
  guint id, operands[MOST_IDS], n = 0;

  if (writer->shape == FORM_SEPARATE)
    {
      layer->w = 2 + 2 * i;
      layer->b = 3 + 2 * i;
    }
  else
    {
      layer->w = node (writer, "slice(%%%u) {start_indices = [%u,0,0], limit_indices = [%u,8,8], strides = [1,1,1]}: f32[1,8,8]%s", stacked->w, i, i + 1,
                       host (writer));
      layer->w = node (writer, "reshape(%%%u) {shape = [8,8]}: f32[8,8]%s", layer->w, host (writer));
      layer->b = node (writer, "slice(%%%u) {start_indices = [%u,0], limit_indices = [%u,8], strides = [1,1]}: f32[1,8]%s", stacked->b, i, i + 1,
                       host (writer));
      layer->b = node (writer, "reshape(%%%u) {shape = [8]}: f32[8]%s", layer->b, host (writer));
    }
  if (writer->shape != FORM_CALLS)
    {
      write_layer (writer, layer);
      return;
    }
  for (guint k = 0; k < 1 + n_extras (writer->flavour); k++)
    operands[n++] = layer->carries[k];
  operands[n++] = layer->w;
  operands[n++] = layer->b;
  id = writer->next++;
  g_string_append_printf (writer->text, "    %%%u = call(", id);
  ids (writer, operands, n);
  g_string_append (writer->text, ") {body = #2}: ");
  result_types (writer, "f32[3,8]");
  g_string_append_printf (writer->text, " scope(\"layers/layer.%u\")\n", i);
  take_results (writer, layer, id, "f32[3,8]");
}

static void
write_unrolled (Writer *writer, Layer *layer)
{
  Layer stacked = *layer;
  guint ys[FORM_LAYERS];

  for (guint i = 0; i < FORM_LAYERS; i++)
    {
      write_one (writer, layer, &stacked, i);
      ys[i] = node (writer, "reshape(%%%u) {shape = [1,3,8]}: f32[1,3,8]", layer->ys[0]);
    }
  g_string_append_printf (writer->text, "    %%%u = concatenate(", writer->next);
  layer->ys[0] = writer->next++;
  ids (writer, ys, FORM_LAYERS);
  g_string_append (writer->text, ") {dimension = 0}: f32[4,3,8]\n");
  if (n_ys (writer->flavour) == 2)
    layer->ys[1] = node (writer, "copy(%%%u) {memory = \"pinned_host\"}: f32[4,3,8]@pinned_host", layer->ys[0]);
}

/* While: the plain flavour alone. */

static void
write_while (Writer *writer, Layer *layer)
{
  guint i = node (writer, "constant() {value = dense<i32[]: 0>}: i32[]");
  guint ys = node (writer, "constant() {value = splat<f32[4,3,8]: 0.0>}: f32[4,3,8]");
  guint loop = node (writer,
                     "while(%%%u, %%%u, %%%u, %%%u, %%%u) {cond = #3, body = #2, most_trips = 5}: (i32[], f32[3,8], "
                     "f32[4,3,8], f32[4,8,8], f32[4,8]) scope(\"layers\")",
                     i, layer->carries[0], ys, layer->w, layer->b);

  layer->carries[0] = node (writer, "result(%%%u) {index = 1}: f32[3,8]", loop);
  layer->ys[0] = node (writer, "result(%%%u) {index = 2}: f32[4,3,8]", loop);
}

static void
write_while_functions (Writer *writer)
{
  guint i = writer->next, h = i + 1, ys = i + 2, w = i + 3, b = i + 4, zero, next;
  Layer layer = { .carries = { h } };
  gsize at;
  g_autofree char *results = NULL;

  writer->next += 5;
  g_string_append_printf (writer->text,
                          "  func @body #2 (%%%u: i32[], %%%u: f32[3,8], %%%u: f32[4,3,8], %%%u: f32[4,8,8], %%%u: "
                          "f32[4,8]) -> (",
                          i, h, ys, w, b);
  at = writer->text->len;
  zero = node (writer, "constant() {value = dense<i32[]: 0>}: i32[]");
  layer.w = node (writer, "dynamic_slice(%%%u, %%%u, %%%u, %%%u) {slice_sizes = [1,8,8]}: f32[1,8,8]", w, i, zero, zero);
  layer.w = node (writer, "reshape(%%%u) {shape = [8,8]}: f32[8,8]", layer.w);
  layer.b = node (writer, "dynamic_slice(%%%u, %%%u, %%%u) {slice_sizes = [1,8]}: f32[1,8]", b, i, zero);
  layer.b = node (writer, "reshape(%%%u) {shape = [8]}: f32[8]", layer.b);
  write_layer (writer, &layer);
  layer.ys[0] = node (writer, "reshape(%%%u) {shape = [1,3,8]}: f32[1,3,8]", layer.ys[0]);
  ys = node (writer, "dynamic_update_slice(%%%u, %%%u, %%%u, %%%u, %%%u): f32[4,3,8]", ys, layer.ys[0], i, zero, zero);
  next = node (writer, "constant() {value = dense<i32[]: 1>}: i32[]");
  next = node (writer, "add(%%%u, %%%u): i32[]", i, next);
  results = g_strdup_printf ("%%%u, %%%u, %%%u, %%%u, %%%u) {\n", next, layer.carries[0], ys, w, b);
  g_string_insert (writer->text, (gssize) at, results);
  i = writer->next;
  writer->next += 5;
  g_string_append_printf (writer->text,
                          "  }\n  func @cond #3 (%%%u: i32[], %%%u: f32[3,8], %%%u: f32[4,3,8], %%%u: f32[4,8,8], "
                          "%%%u: f32[4,8]) -> (%%%u) {\n",
                          i, i + 1, i + 2, i + 3, i + 4, i + 6);
  next = node (writer, "constant() {value = dense<i32[]: 4>}: i32[]");
  node (writer, "compare(%%%u, %%%u) {comparison_direction = \"LT\"}: bool[]", i, next);
  g_string_append (writer->text, "  }\n");
}

/* The whole */

static void
write_head (Writer *writer, Layer *layer)
{
  const char *where = host (writer);

  g_string_append (writer->text, "module \"form\" {\n  func @main #1 (%1 \"x\": f32[3,8]");
  if (writer->shape == FORM_SEPARATE)
    for (guint i = 0; i < FORM_LAYERS; i++)
      g_string_append_printf (writer->text,
                              ", %%%u \"w%u\": f32[8,8]%s {role = \"parameter\"}, %%%u \"b%u\": f32[8]%s {role = "
                              "\"parameter\"}",
                              2 + 2 * i, i, where, 3 + 2 * i, i, where);
  else
    g_string_append_printf (writer->text, ", %%2 \"w\": %s%s {role = \"parameter\"}, %%3 \"b\": %s%s {role = \"parameter\"}", stacked_w (writer->shape), where,
                            stacked_b (writer->shape), where);
  g_string_append (writer->text, ") -> (%20) {\n");
  *layer = (Layer){ .carries = { 1 }, .w = 2, .b = 3 };
  writer->next = 21;
  for (guint i = 0; i < n_extras (writer->flavour); i++)
    layer->carries[1 + i] = node (writer, "constant() {value = %s}: %s", extra_start (writer->flavour), extra_type (writer->flavour));
}

/* sum (h^2) + sum (y^3), the last y of which may come from the host. */
static void
write_loss (Writer *writer, Layer *layer)
{
  const char *type = stacked_y (writer->shape);
  guint third = layer->ys[0], squares, cubes;

  squares = node (writer, "multiply(%%%u, %%%u): f32[3,8]", layer->carries[0], layer->carries[0]);
  squares = node (writer, "reduce(%%%u) {kind = \"add\", dimensions = [0,1]}: f32[]", squares);
  if (n_ys (writer->flavour) == 2)
    third = node (writer, "copy(%%%u) {memory = \"device\"}: %s", layer->ys[1], type);
  cubes = node (writer, "multiply(%%%u, %%%u): %s", layer->ys[0], layer->ys[0], type);
  cubes = node (writer, "multiply(%%%u, %%%u): %s", cubes, third, type);
  cubes = node (writer, "reduce(%%%u) {kind = \"add\", dimensions = [0,1,2]}: f32[]", cubes);
  g_string_append_printf (writer->text, "    %%20 = add(%%%u, %%%u): f32[]\n  }\n", squares, cubes);
}

static void
write_functions (Writer *writer)
{
  if (writer->shape == FORM_WHILE)
    write_while_functions (writer);
  else if (writer->shape >= FORM_NESTED)
    write_nested_function (writer);
  else if (writer->shape >= FORM_CALLS)
    write_layer_function (writer, 2);
  if (writer->flavour == FORM_BRANCH)
    g_string_append_printf (writer->text,
                            "  func @then #8 (%%%u: f32[3,8]) -> (%%%u) {\n    %%%u = tanh(%%%u): f32[3,8]\n  }\n"
                            "  func @else #9 (%%%u: f32[3,8]) -> (%%%u) {\n    %%%u = sine(%%%u): f32[3,8]\n  }\n",
                            writer->next, writer->next + 1, writer->next + 1, writer->next, writer->next + 2, writer->next + 3, writer->next + 3,
                            writer->next + 2);
}

char *
form_text (FormShape shape, FormFlavour flavour, const char *element)
{
  g_autoptr (GString) text = g_string_new (NULL);
  Writer writer = { text, shape, flavour, 0 };
  Layer layer;

  g_return_val_if_fail (shape != FORM_WHILE || flavour == FORM_PLAIN, NULL);
  write_head (&writer, &layer);
  if (shape < FORM_SCAN)
    write_unrolled (&writer, &layer);
  else if (shape == FORM_WHILE)
    write_while (&writer, &layer);
  else if (shape >= FORM_NESTED)
    write_nested (&writer, &layer);
  else
    write_scan (&writer, &layer, 2, FORM_LAYERS, shape == FORM_REVERSED, axis_of (shape), stacked_y (shape));
  write_loss (&writer, &layer);
  write_functions (&writer);
  g_string_append (text, "}\n");
  if (strcmp (element, "f32") != 0)
    g_string_replace (text, "f32", element, 0);
  return g_string_free (g_steal_pointer (&text), FALSE);
}

/* The order of elements */

guint
form_layers_size (const char *name)
{
  return FORM_LAYERS * (name[0] == 'w' ? FORM_WIDTH * FORM_WIDTH : FORM_WIDTH);
}

guint
form_layer_element (FormShape shape, const char *name, guint index)
{
  guint one = form_layers_size (name) / FORM_LAYERS, axis = name[0] == 'w' ? axis_of (shape) : MIN (axis_of (shape), 1);
  guint inner = one, slot;

  if (shape == FORM_SEPARATE)
    return (guint) (name[1] - '0') * one + index;
  for (guint i = 0; i < axis; i++)
    inner /= FORM_WIDTH;
  slot = index / inner % FORM_LAYERS;
  index = index / inner / FORM_LAYERS * inner + index % inner;
  if (shape == FORM_REVERSED || shape == FORM_NESTED_REVERSED)
    slot = FORM_LAYERS - 1 - slot;
  else if (shape == FORM_NESTED_INNER)
    slot ^= 1;
  return slot * one + index;
}
