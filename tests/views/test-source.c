/* SPDX-License-Identifier: Apache-2.0 */
/* What the source page is made from: files that are read whatever a model names, nodes by line, and what lines cost. */
#include "core/base/error.h"
#include "core/graph/operation.h"
#include "core/graph/text.h"
#include "tests/views/views-test.h"
#include "views/source/source-error.h"
#include "views/source/source-gutter.h"
#include "views/source/source-heat.h"
#include "views/source/source-text.h"
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

/* Files */

static char *folder;

static char *
write_file (const char *name, const char *bytes, gssize length)
{
  char *path = g_build_filename (folder, name, NULL);

  g_assert_true (g_file_set_contents (path, bytes, length, NULL));
  return path;
}

static GantrySourceText *
read_as (const char *path, const char *owner, gboolean anywhere, GError **error)
{
  GantrySourceRequest request = { (char *) path, (char *) owner, anywhere, { 0 }, 0 };

  return gantry_source_text_read (&request, error);
}

static void
check_text (const char *bytes, gssize length, const char *expected, guint n_lines)
{
  g_autofree char *path = write_file ("text.py", bytes, length);
  g_autoptr (GError) error = NULL;
  g_autoptr (GantrySourceText) text = read_as (path, NULL, FALSE, &error);

  g_assert_no_error (error);
  g_assert_cmpstr (text->text, ==, expected);
  g_assert_cmpuint (text->n_lines, ==, n_lines);
  g_assert_true (g_utf8_validate (text->text, -1, NULL));
  g_unlink (path);
}

static void
test_text (void)
{
  check_text ("", 0, "", 0);
  check_text ("a\nb\n", -1, "a\nb\n", 2);
  check_text ("a\r\nb\rc", -1, "a\nb\nc\n", 3);
  check_text ("\357\273\277x = 1\n\n", -1, "x = 1\n\n", 2);
  check_text ("a\342\200\251b\n", -1, "a\357\277\275b\n", 1); /* no line for a compiler */
  check_text ("\303\244 = 1\n", -1, "\303\244 = 1\n", 1);
  check_text ("a = '\344'\n", -1, "a = '\357\277\275'\n", 1);
}

static void
check_refused (const char *path, const char *owner, GQuark domain, int code)
{
  g_autoptr (GError) error = NULL;

  g_assert_null (read_as (path, owner, FALSE, &error));
  g_assert_error (error, domain, code);
  g_assert_nonnull (strstr (error->message, path));
}

/* A model names what it likes: none of it may block, or be read without end. */
static void
test_refused (void)
{
  g_autofree char *queue = g_build_filename (folder, "queue.py", NULL), *missing = g_build_filename (folder, "missing.py", NULL);
  g_autofree char *binary = write_file ("binary.py", "a\0b", 3), *inside = g_build_filename (folder, "models", NULL);
  g_autofree char *model = g_build_filename (inside, "model.gir", NULL), *large = g_build_filename (folder, "large.py", NULL);
  g_autofree char *lines = g_strnfill (200001, '\n'), *many = write_file ("many.py", lines, -1);
  g_autofree char *small = write_file ("small.py", "x = 1\n", -1);
  g_autoptr (GantrySourceText) text = NULL;
  g_autoptr (GError) error = NULL;

  g_assert_cmpint (mkfifo (queue, 0600), ==, 0);
  g_assert_cmpint (g_mkdir (inside, 0700), ==, 0);
  g_assert_true (g_file_set_contents (model, "", 0, NULL));
  g_assert_true (g_file_set_contents (large, "", 0, NULL));
  g_assert_cmpint (truncate (large, (17 << 20)), ==, 0);
  check_refused ("/dev/zero", NULL, G_FILE_ERROR, G_FILE_ERROR_INVAL);
  check_refused (queue, NULL, G_FILE_ERROR, G_FILE_ERROR_INVAL);
  check_refused (folder, NULL, G_FILE_ERROR, G_FILE_ERROR_ISDIR);
  check_refused (missing, NULL, G_FILE_ERROR, G_FILE_ERROR_NOENT);
  check_refused (binary, NULL, GANTRY_ERROR, GANTRY_ERROR_INVALID);
  check_refused (large, NULL, GANTRY_ERROR, GANTRY_ERROR_TOO_LARGE);
  check_refused (many, NULL, GANTRY_ERROR, GANTRY_ERROR_TOO_LARGE);
  check_refused (small, model, GANTRY_ERROR, GANTRY_ERROR_OUTSIDE);
  text = read_as (small, model, TRUE, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (text->text, ==, "x = 1\n");
  for (char **path = (char *[]){ queue, binary, model, large, many, small, NULL }; *path != NULL; path++)
    g_unlink (*path);
  g_rmdir (inside);
}

static void
test_long (void)
{
  g_autofree char *line = g_strnfill (100000, 'x'), *all = g_strdup_printf ("%s\ny\n", line), *path = write_file ("long.py", all, -1);
  g_autoptr (GError) error = NULL;
  g_autoptr (GantrySourceText) text = read_as (path, NULL, FALSE, &error);

  g_assert_no_error (error);
  g_assert_cmpuint (text->n_cut, ==, 1);
  g_assert_cmpuint (text->n_lines, ==, 2);
  g_assert_cmpuint (strlen (text->text), <, 5000);
  g_assert_true (g_str_has_suffix (text->text, "x…\ny\n"));
  g_unlink (path);
}

static void
test_age (void)
{
  g_autofree char *path = write_file ("age.py", "x = 1\n", -1);
  GantrySourceRequest request = { path, NULL, FALSE, { 0 }, 0 };
  g_autoptr (GantrySourceText) same = NULL, changed = NULL, newer = NULL;

  gantry_file_identify (path, &request.identity);
  same = gantry_source_text_read (&request, NULL);
  g_assert_cmpint (same->age, ==, GANTRY_SOURCE_AS_OPENED);
  request.identity.size++;
  changed = gantry_source_text_read (&request, NULL);
  g_assert_cmpint (changed->age, ==, GANTRY_SOURCE_CHANGED);
  request.model_modified_ns = request.identity.modified_ns - 1;
  request.identity = (GantryFileIdentity){ 0 };
  newer = gantry_source_text_read (&request, NULL);
  g_assert_cmpint (newer->age, ==, GANTRY_SOURCE_NEWER);
  g_unlink (path);
}

/* Lines */

/* Two lines of a program that passes make one fusion of, a line unrolled three times, and a node of a binary format. */
static const char program[] = "module \"lines\" {\n  func @main #1 (\n    %1 \"x\": f32[64] loc(\"net.py\":1:1)) -> (%7) {\n"
                              "    %2 = tanh(%1): f32[64] loc(\"net.py\":7:5)\n"
                              "    %3 = exponential(%2): f32[64] loc(\"net.py\":8:5)\n"
                              "    %4 = tanh(%3): f32[64] loc(\"net.py\":7:5)\n"
                              "    %5 = tanh(%4): f32[64] loc(\"net.py\":7:9)\n"
                              "    %6 = negate(%5): f32[64] loc(\"other.py\":7:9)\n"
                              "    %7 = abs(%6): f32[64] loc(\"model.onnx\":3 \"node 3\")\n  }\n}\n";

static const GantrySourceLine *
line_of (const GantrySourceIndex *index, const char *file, guint32 line)
{
  return gantry_source_index_find (index, gantry_context_intern (index->module->context, file), line);
}

static void
test_lines (void)
{
  g_autoptr (GantryDocument) document = views_open_text (program);
  GantryCompilation *compilation = gantry_document_get_compilation (document);
  const GantryModule *last = gantry_compilation_module (compilation);
  g_autoptr (GantrySourceIndex) imported = gantry_source_index_new (compilation->snapshots[0].module);
  g_autoptr (GantrySourceIndex) compiled = gantry_source_index_new (gantry_compilation_module (compilation));
  const GantrySourceLine *seven = line_of (imported, "net.py", 7), *eight = line_of (compiled, "net.py", 8);

  g_assert_cmpuint (imported->files->len, ==, 2);
  g_assert_cmpuint (imported->lines->len, ==, 4);
  g_assert_nonnull (seven);
  g_assert_cmpuint (seven->n, ==, 3);
  for (guint32 i = 0; i < seven->n; i++)
    g_assert_cmpuint (gantry_module_node (imported->module, imported->nodes[seven->first + i])->op, ==, GANTRY_OP_TANH);
  g_assert_null (line_of (imported, "net.py", 2));
  g_assert_null (line_of (imported, "model.onnx", 3)); /* an index in a file, and no line */
  g_assert_cmpuint (line_of (imported, "other.py", 7)->n, ==, 1);
  /* What is inside a fusion counts for the fusion, once. */
  g_assert_nonnull (eight);
  g_assert_cmpuint (eight->n, ==, 1);
  g_assert_cmpuint (gantry_module_node (last, compiled->nodes[eight->first])->op, ==, GANTRY_OP_FUSION);
  g_assert_cmpuint (line_of (compiled, "net.py", 7)->n, ==, 1);
}

/* Of many: the last column would be slow if a line was looked for among all. */
static void
test_many_lines (void)
{
  g_autoptr (GString) text = g_string_new ("module \"many\" {\n  func @main #1 (\n    %1 \"x\": f32[4] loc(\"a.py\":1:1)) -> (%50001) {\n");
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryModule) module = NULL;
  g_autoptr (GantrySourceIndex) index = NULL;
  g_autoptr (GError) error = NULL;
  guint n = 0;

  for (guint i = 2; i <= 50001; i++)
    g_string_append_printf (text, "    %%%u = negate(%%%u): f32[4] loc(\"%c.py\":%u:1)\n", i, i - 1, "ab"[i % 2], 1 + i % 10007);
  g_string_append (text, "  }\n}\n");
  module = gantry_module_from_text (context, text->str, -1, "many.gir", &error);
  g_assert_no_error (error);
  index = gantry_source_index_new (module);
  g_assert_cmpuint (index->files->len, ==, 2);
  for (guint i = 0; i < index->lines->len; i++)
    {
      const GantrySourceLine *line = &g_array_index (index->lines, GantrySourceLine, i);

      g_assert_true (gantry_source_index_find (index, line->file, line->line) == line);
      for (guint32 k = 0; k < line->n; k++)
        {
          const GantryLocation *place = gantry_source_place (module, gantry_module_node (module, index->nodes[line->first + k]));

          g_assert_true (place->file == line->file && place->line == line->line);
          g_assert_true (k == 0 || index->nodes[line->first + k - 1] < index->nodes[line->first + k]);
        }
      n += line->n;
    }
  g_assert_cmpuint (n, ==, module->n_nodes);
}

/* Of a line that only calls, what it led to; a chain of steps that others share is looked at once. */
static void
test_led (void)
{
  static const char text[] = "module \"m\" {\n"
                             "  loc #1 = (\"f.py\":30:5 in \"step\")\n"
                             "  loc #2 = (\"f.py\":20:9 in \"net\" called #1)\n"
                             "  loc #3 = (\"f.py\":21:9 in \"net\" called #1)\n"
                             "  func @main #1 (\n"
                             "    %1: f32[2] loc(\"f.py\":1)) -> (%4) {\n"
                             "    %2 = negate(%1): f32[2] loc(\"f.py\":10:5 in \"g\" called #2)\n"
                             "    %3 = negate(%2): f32[2] loc(\"f.py\":10:5 in \"g\" called #3)\n"
                             "    %4 = negate(%3): f32[2] loc(\"f.py\":11:5 in \"g\" called #3)\n"
                             "  }\n}\n";
  static const struct
  {
    guint32 line, first, n;
  } expected[] = { { 30, 2, 3 }, { 20, 2, 1 }, { 21, 3, 2 }, { 10, 0, 0 }, { 31, 0, 0 } };
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModule) module = gantry_module_from_text (context, text, -1, "m.gir", &error);
  g_autoptr (GantrySourceIndex) index = NULL;

  g_assert_no_error (error);
  index = gantry_source_index_new (module);
  for (guint i = 0; i < G_N_ELEMENTS (expected); i++)
    {
      g_autoptr (GArray) led = gantry_source_index_led (index, gantry_context_intern (context, "f.py"), expected[i].line);

      g_assert_cmpuint (led->len, ==, expected[i].n);
      for (guint k = 0; k < led->len; k++)
        g_assert_cmpuint (g_array_index (led, guint32, k), ==, expected[i].first + k);
    }
}

/* Cost */

static double
sum_of (const GantrySourceHeat *heat, GantrySourceFigure figure)
{
  double sum = heat->elsewhere.figure[figure];

  for (guint i = 0; i < heat->index->lines->len; i++)
    sum += heat->lines[i].figure[figure];
  return sum;
}

static double
planned_us (const GantryPlan *plan)
{
  double sum = 0;

  for (guint32 i = plan->n_init_steps; i < plan->n_steps; i++)
    sum += plan->steps[i].queue == GANTRY_QUEUE_COMPUTE ? plan->steps[i].duration_us : 0;
  return sum;
}

static gboolean
is_near (double a, double b)
{
  return fabs (a - b) <= 1e-9 * (fabs (a) + fabs (b)) + 1e-9;
}

/* Nothing is lost, and nothing counted twice; planned and measured have sources of their own. */
static void
check_heat (GantryDocument *document)
{
  GantryModule *module = gantry_compilation_module (gantry_document_get_compilation (document));
  const GantryPlan *plan = gantry_document_get_plan (document);
  g_autoptr (GHashTable) measured = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  g_autoptr (GantrySourceHeat) heat = gantry_source_heat_new (module, plan, NULL), again = NULL;
  double expected = 0;

  g_assert_true (heat->known[GANTRY_SOURCE_PLANNED_US] && heat->known[GANTRY_SOURCE_PEAK_BYTES]);
  g_assert_false (heat->known[GANTRY_SOURCE_MEASURED_US]);
  g_assert_cmpfloat (planned_us (plan), >, 0);
  g_assert_true (is_near (sum_of (heat, GANTRY_SOURCE_PLANNED_US), planned_us (plan)));
  g_assert_true (is_near (sum_of (heat, GANTRY_SOURCE_PEAK_BYTES), (double) plan->live_bytes[plan->peak_step]));
  g_assert_cmpfloat (sum_of (heat, GANTRY_SOURCE_MEASURED_US), ==, 0);
  for (guint32 i = plan->n_init_steps; i < plan->n_steps; i++)
    if (plan->steps[i].queue == GANTRY_QUEUE_COMPUTE)
      {
        double us = 3.0 + plan->steps[i].node; /* one time for a node, however often it runs */

        expected += us;
        g_hash_table_insert (measured, GUINT_TO_POINTER (plan->steps[i].node), g_memdup2 (&us, sizeof us));
      }
  again = gantry_source_heat_new (module, plan, measured);
  g_assert_true (again->known[GANTRY_SOURCE_MEASURED_US]);
  g_assert_true (is_near (sum_of (again, GANTRY_SOURCE_MEASURED_US), expected));
  g_assert_true (is_near (sum_of (again, GANTRY_SOURCE_PLANNED_US), planned_us (plan)));
}

static void
test_heat (void)
{
  g_autoptr (GantryDocument) document = views_open_text (program);
  GantryModule *module = gantry_compilation_module (gantry_document_get_compilation (document));
  g_autoptr (GantrySourceHeat) heat = gantry_source_heat_new (module, gantry_document_get_plan (document), NULL);
  const GantrySourceCost *seven, *eight;

  check_heat (document);
  seven = gantry_source_heat_find (heat, gantry_context_intern (module->context, "net.py"), 7);
  eight = gantry_source_heat_find (heat, gantry_context_intern (module->context, "net.py"), 8);
  /* One kernel, divided by the work of its parts: three nodes there, one here. */
  g_assert_cmpfloat (eight->figure[GANTRY_SOURCE_PLANNED_US], >, 0);
  g_assert_cmpfloat (seven->figure[GANTRY_SOURCE_PLANNED_US], >, 2 * eight->figure[GANTRY_SOURCE_PLANNED_US]);
  g_assert_cmpfloat (heat->elsewhere.figure[GANTRY_SOURCE_PLANNED_US], ==, 0);
}

static void
test_heat_of_step (void)
{
  g_autofree char *path = views_source_file ("data/programs/transformer-tiny.gir");
  g_autoptr (GantryDocument) document = gantry_document_new ();
  g_autoptr (GError) error = NULL;
  GantryTrainingOptions training;

  gantry_training_options_init (&training);
  training.optimizer = GANTRY_OPTIMIZER_ADAM;
  gantry_document_open (document, path, NULL, NULL, &error);
  g_assert_no_error (error);
  gantry_document_set_training (document, &training);
  gantry_training_options_clear (&training);
  gantry_document_wait (document);
  g_assert_true (gantry_document_set_policy (document, "policy nothing_saveable\nrole:state offload", &error));
  gantry_document_wait (document);
  check_heat (document);
}

/* Errors */

static void
check_places (const char *message, const char *path, const char *expected)
{
  g_autoptr (GantrySourcePlaces) places = gantry_source_places_of (message);
  g_autoptr (GString) spots = g_string_new (NULL);

  g_assert_cmpstr (places != NULL ? places->path : NULL, ==, path);
  for (guint i = 0; places != NULL && i < places->spots->len; i++)
    {
      const GantrySourceSpot *spot = &g_array_index (places->spots, GantrySourceSpot, i);

      g_string_append_printf (spots, "%u:%u ", spot->line, spot->column);
    }
  g_assert_cmpstr (spots->str, ==, expected);
}

static void
test_places (void)
{
  check_places ("", NULL, "");
  check_places ("/a/b.gir: has no nodes", NULL, "");
  check_places ("/a/b.gir:3:10: expected 3:4: here", "/a/b.gir", "3:10 ");
  check_places ("/a:1/b.gir:3:10: no", "/a:1/b.gir", "3:10 ");
  check_places ("b.py:9:9: AttributeError: x\nb.py:15:2: NameError: y\nc.py:1:1: z\nand 3 more", "b.py", "9:9 15:2 ");
  check_places ("b.py:0:0: no line", NULL, "");
  check_places ("b.py:9:9", NULL, "");
  check_places ("b.py:99999999999999999999:1: far", "b.py", "2147483647:1 ");
  check_places ("a.py: the program ended with status 1\nTraceback (most recent call last):\n  File \"a.py\", line 20, in <module>\n"
                "    net(x)\n  File \"/b/net.py\", line 8, in construct\n    y = x.foo\n"
                "  File \"<gantry>/mindspore/_core.py\", line 327, in __getattr__\nAttributeError: 'x'",
                "/b/net.py", "8:0 ");
  check_places ("a.py: the program ended with status 1\n  File \"a.py\", line 2\n    def f(:\n          ^\nSyntaxError: invalid syntax", "a.py", "2:0 ");
}

/* Contrast of the figures on their bars */

static void
test_contrast (void)
{
  for (guint dark = 0; dark < 2; dark++)
    for (guint f = 0; f < GANTRY_N_SOURCE_FIGURES; f++)
      {
        const GantryTheme *theme = gantry_theme_get (dark != 0);
        GantryColor bar = gantry_source_bar_color (theme, f);

        g_assert_cmpfloat (gantry_color_contrast (&theme->ink[GANTRY_INK_TEXT], &bar), >=, 4.5);
      }
}

int
main (int argc, char **argv)
{
  int status;

  g_test_init (&argc, &argv, NULL);
  folder = g_dir_make_tmp ("gantry-source-XXXXXX", NULL);
  g_test_add_func ("/views/source/text", test_text);
  g_test_add_func ("/views/source/refused", test_refused);
  g_test_add_func ("/views/source/long", test_long);
  g_test_add_func ("/views/source/age", test_age);
  g_test_add_func ("/views/source/lines", test_lines);
  g_test_add_func ("/views/source/many-lines", test_many_lines);
  g_test_add_func ("/views/source/led", test_led);
  g_test_add_func ("/views/source/heat", test_heat);
  g_test_add_func ("/views/source/heat-of-step", test_heat_of_step);
  g_test_add_func ("/views/source/places", test_places);
  g_test_add_func ("/views/source/contrast", test_contrast);
  status = g_test_run ();
  g_rmdir (folder);
  g_free (folder);
  return status;
}
