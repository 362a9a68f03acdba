/* SPDX-License-Identifier: Apache-2.0 */
/* The source page: from nodes to lines and back, which file is shown, and what is said where there is none. */
#include "tests/app/gantry/window-test.h"
#include "views/source/source-error.h"
#include <glib/gstdio.h>
#include <string.h>

static const char net[] = "# a net\ndef layer(x):\n    y = f.tanh(x)\n    return f.exp(y)\n\n\nlayer(layer(1))\n";
static const char other[] = "def f(x):\n    return -x\n";
static const char nodes[] = "module \"m\" {\n  func @main #1 (%1 \"x\": f32[4] loc(\"net.py\":2:11)) -> (%6) {\n"
                            "    %2 = tanh(%1): f32[4] loc(\"net.py\":3:9)\n    %3 = exponential(%2): f32[4] loc(\"net.py\":4:12)\n"
                            "    %4 = tanh(%3): f32[4] loc(\"net.py\":3:9)\n    %5 = exponential(%4): f32[4] loc(\"net.py\":4:12)\n"
                            "    %6 = negate(%5): f32[4] loc(\"other.py\":2:12)\n  }\n}\n";

typedef struct
{
  char *folder, *model, *net, *other;
  GantryWindow *window;
  GantrySelection *selection;
  GantrySourcePage *page;
  GantrySourceView *view;
} Place;

static void
write_text (const char *path, const char *text)
{
  g_assert_true (g_file_set_contents (path, text, -1, NULL));
}

static void
set_up (Place *place, gconstpointer data)
{
  place->window = window_test_new ();
  if (place->window == NULL)
    return;
  place->folder = g_dir_make_tmp ("gantry-source-XXXXXX", NULL);
  place->model = g_build_filename (place->folder, "model.gir", NULL);
  place->net = g_build_filename (place->folder, "net.py", NULL);
  place->other = g_build_filename (place->folder, "other.py", NULL);
  write_text (place->net, net);
  write_text (place->other, other);
  write_text (place->model, nodes);
  place->selection = gantry_window_get_selection (place->window);
  place->page = gantry_window_get_source_page (place->window);
  place->view = gantry_source_page_get_view (place->page);
  g_assert_false (gtk_widget_get_mapped (GTK_WIDGET (place->page)));
  window_test_open (place->window, place->model);
  window_test_act (place->window, "show-source");
  window_test_wait (place->window);
}

static void
tear_down (Place *place, gconstpointer data)
{
  if (place->window == NULL)
    return;
  window_test_act (place->window, "show-source");
  window_test_free (place->window);
  g_unlink (place->model);
  g_unlink (place->net);
  g_unlink (place->other);
  g_rmdir (place->folder);
  g_free (place->model);
  g_free (place->net);
  g_free (place->other);
  g_free (place->folder);
}

static GantryCompilation *
compilation_of (Place *place)
{
  return gantry_document_get_compilation (gantry_window_get_document (place->window));
}

static void
select_node (Place *place, guint snapshot, guint32 id)
{
  gantry_selection_set (place->selection, snapshot, &id, 1);
  window_test_wait (place->window);
}

static void
check_marked (Place *place, const char *lines, const char *word)
{
  g_autofree char *marked = gantry_source_view_get_marked (place->view, FALSE);
  g_autoptr (GString) found = g_string_new (NULL);

  for (guint32 line = 1; line <= 7; line++)
    if (gantry_source_view_is_marked (place->view, line))
      g_string_append_printf (found, "%u ", line);
  g_assert_cmpstr (found->str, ==, lines);
  g_assert_cmpstr (marked, ==, word);
}

/* Of the file that the primary node names, whatever was shown. */
static void
test_node_to_line (Place *place, gconstpointer data)
{
  g_autofree char *text = NULL;
  guint32 both[] = { 3, 2 };

  if (place->window == NULL)
    return;
  text = gantry_source_view_get_text (place->view);
  g_assert_cmpstr (gantry_source_page_get_path (place->page), ==, place->net);
  g_assert_cmpstr (text, ==, "# a net\ndef layer(x):\n    y = f.tanh(x)\n    return f.exp(y)\n\n\nlayer(layer(1))");
  check_marked (place, "", "");
  select_node (place, 0, 2);
  check_marked (place, "3 ", "f.tanh");
  gantry_selection_set (place->selection, 0, both, 2);
  window_test_wait (place->window);
  check_marked (place, "3 4 ", "f.exp");
  select_node (place, 0, 6);
  g_assert_cmpstr (gantry_source_page_get_path (place->page), ==, place->other);
  check_marked (place, "2 ", "-"); /* no name: one sign */
  gantry_selection_clear (place->selection);
  window_test_wait (place->window);
  g_assert_cmpstr (gantry_source_page_get_path (place->page), ==, place->other);
  check_marked (place, "", "");
}

/* All nodes of a line, in the snapshot that is looked at; a line of no node leaves what is selected. */
static void
test_line_to_nodes (Place *place, gconstpointer data)
{
  GHashTable *selected;
  guint last;

  if (place->window == NULL)
    return;
  gantry_source_view_choose_line (place->view, 3);
  window_test_wait (place->window);
  selected = gantry_selection_in (place->selection, 0);
  g_assert_cmpuint (gantry_selection_count (place->selection), ==, 2);
  g_assert_true (g_hash_table_contains (selected, GUINT_TO_POINTER (2)) && g_hash_table_contains (selected, GUINT_TO_POINTER (4)));
  check_marked (place, "3 ", "");
  gantry_source_view_choose_line (place->view, 1);
  window_test_wait (place->window);
  g_assert_cmpuint (gantry_selection_count (place->selection), ==, 2);
  last = compilation_of (place)->n_snapshots - 1;
  gantry_pass_list_select (gantry_window_get_pass_list (place->window), last);
  gantry_source_view_choose_line (place->view, 4); /* before its lines are known */
  window_test_wait (place->window);
  g_assert_cmpuint (gantry_selection_snapshot (place->selection), ==, last);
  g_assert_cmpuint (gantry_selection_count (place->selection), ==, 1);
  g_assert_cmpstr (gantry_node_op_name (gantry_compilation_module (compilation_of (place)),
                                        gantry_module_node (gantry_compilation_module (compilation_of (place)), gantry_selection_primary (place->selection))),
                   ==, "fusion");
  check_marked (place, "3 4 ", ""); /* all that is in that kernel, but for what is in another file */
}

/* Columns count bytes: of a name with other letters, in the middle of one, and behind the end of the line. */
static void
test_columns (Place *place, gconstpointer data)
{
  static const struct
  {
    const char *column, *word;
  } cases[] = { { "1", "x\303\244" }, { "7", "f.t\303\244nh" }, { "11", "\303\244nh" }, { "14", "(" }, { "15", "" }, { "4000000000", "" } };

  if (place->window == NULL)
    return;
  write_text (place->net, "x\303\244 = f.t\303\244nh(\n");
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *text = g_strdup_printf ("module \"m\" {\n  func @main #1 (%%1 \"x\": f32[4]) -> (%%2) {\n"
                                               "    %%2 = tanh(%%1): f32[4] loc(\"net.py\":1:%s)\n  }\n}\n",
                                               cases[i].column);

      write_text (place->model, text);
      window_test_open (place->window, place->model);
      select_node (place, 0, 2);
      check_marked (place, "1 ", cases[i].word);
    }
}

/* The place in the inspector leads to the page. */
static void
test_link (Place *place, gconstpointer data)
{
  GtkWidget *link;

  if (place->window == NULL)
    return;
  window_test_act (place->window, "show-source");
  select_node (place, 0, 3);
  g_assert_false (gtk_widget_get_mapped (GTK_WIDGET (place->page)));
  views_wait_until ((link = window_test_find (GTK_WIDGET (gantry_window_get_inspector (place->window)), "source")) != NULL);
  g_assert_true (window_test_has_text (link, "net.py:4:12"));
  g_signal_emit_by_name (link, "clicked");
  window_test_wait (place->window);
  g_assert_true (gtk_widget_get_mapped (GTK_WIDGET (place->page)));
  check_marked (place, "4 ", "f.exp");
}

static void
test_costs (Place *place, gconstpointer data)
{
  g_autofree char *told = NULL, *nothing = NULL;

  if (place->window == NULL)
    return;
  told = gantry_source_view_describe (place->view, 3);
  nothing = gantry_source_view_describe (place->view, 1);
  g_assert_null (nothing);
  g_assert_nonnull (told);
  g_assert_true (g_str_has_prefix (told, "Line 3: 2 nodes as imported\nplanned "));
  g_assert_true (g_str_has_suffix (told, "\ntanh: f32[4]"));
  g_assert_null (strstr (told, "measured"));
  g_assert_true (window_test_has_text (GTK_WIDGET (place->page), "planned"));
  g_assert_false (window_test_has_text (GTK_WIDGET (place->page), "measured"));
}

/* What was measured has a column of its own, from the recording alone. */
static void
test_measured (Place *place, gconstpointer data)
{
  GantryDocument *document;
  g_autoptr (GantryRunResult) run = gantry_run_result_new ();
  g_autofree char *told = NULL;

  if (place->window == NULL)
    return;
  document = gantry_window_get_document (place->window);
  run->device = g_strdup ("cpu");
  run->when = g_strdup ("2026-01-01T00:00:00Z");
  run->n_runs = 1;
  run->plan = gantry_plan_ref (gantry_document_get_plan (document));
  run->recording = gantry_recording_from_plan (gantry_compilation_module (compilation_of (place)), run->plan);
  gantry_document_add_run (document, run);
  window_test_wait (place->window);
  told = gantry_source_view_describe (place->view, 3);
  g_assert_nonnull (strstr (told, ", measured "));
  g_assert_true (window_test_has_text (GTK_WIDGET (place->page), "measured"));
}

static void
reload (Place *place)
{
  GtkWidget *button = NULL;

  views_wait_until ((button = window_test_find (GTK_WIDGET (place->window), "reload")) != NULL);
  g_signal_emit_by_name (button, "clicked");
  views_wait_until (window_test_find (GTK_WIDGET (place->window), "reload") == NULL);
  window_test_wait (place->window);
}

/* The same file again, as it is now, with the mark at the line where the node is now. */
static void
test_reload (Place *place, gconstpointer data)
{
  g_autofree char *text = NULL;
  g_autoptr (GString) moved = g_string_new (nodes);

  if (place->window == NULL)
    return;
  select_node (place, 0, 6);
  check_marked (place, "2 ", "-");
  write_text (place->other, "import f\n\ndef f(x):\n    return -x\n");
  g_string_replace (moved, "\"other.py\":2:12", "\"other.py\":4:13", 0);
  write_text (place->model, moved->str);
  reload (place);
  text = gantry_source_view_get_text (place->view);
  g_assert_cmpstr (gantry_source_page_get_path (place->page), ==, place->other);
  g_assert_true (g_str_has_prefix (text, "import f\n"));
  check_marked (place, "4 ", "x");
}

/* A model that names what is not there, what is no file, and what it may not show by itself. */
static void
test_no_text (Place *place, gconstpointer data)
{
  g_autofree char *outside = NULL, *text = NULL, *shown = NULL;
  GtkWidget *button;

  if (place->window == NULL)
    return;
  outside = g_strconcat (place->folder, "-elsewhere.py", NULL);
  text = g_strdup_printf ("module \"m\" {\n  func @main #1 (%%1 \"x\": f32[4] loc(\"/dev/zero\":1:1)) -> (%%3) {\n"
                          "    %%2 = tanh(%%1): f32[4] loc(\"gone.py\":3:9)\n    %%3 = abs(%%2): f32[4] loc(\"%s\":1:1)\n  }\n}\n",
                          outside);
  write_text (outside, "outside = 1\n");
  write_text (place->model, text);
  window_test_open (place->window, place->model);
  select_node (place, 0, 1);
  g_assert_nonnull (strstr (gantry_source_page_get_words (place->page), "/dev/zero: is a device"));
  select_node (place, 0, 2);
  g_assert_nonnull (strstr (gantry_source_page_get_words (place->page), "gone.py: cannot be read"));
  button = window_test_find (GTK_WIDGET (place->page), "show-outside");
  g_assert_false (gtk_widget_get_visible (button));
  select_node (place, 0, 3);
  g_assert_nonnull (strstr (gantry_source_page_get_words (place->page), "lies outside the model's folder"));
  g_assert_true (gtk_widget_get_visible (button));
  g_signal_emit_by_name (button, "clicked");
  window_test_wait (place->window);
  g_assert_null (gantry_source_page_get_words (place->page));
  shown = gantry_source_view_get_text (place->view);
  g_assert_cmpstr (shown, ==, "outside = 1");
  check_marked (place, "1 ", "outside");
  g_unlink (outside);
}

static void
test_no_lines (Place *place, gconstpointer data)
{
  g_autofree char *path = NULL;

  if (place->window == NULL)
    return;
  path = views_sample ("linear.onnx");
  window_test_open (place->window, path);
  g_assert_nonnull (strstr (gantry_source_page_get_words (place->page), "does not say in which lines"));
}

/* Errors */

/* The text that @widget shows as the place of an error. (transfer full) */
static char *
error_shown (GtkWidget *widget)
{
  GtkWidget *source = window_test_find (widget, "error-source");

  g_assert_nonnull (source);
  views_wait_until (gtk_widget_get_visible (source));
  return gantry_source_view_get_marked (gantry_source_error_get_view (source), TRUE);
}

/* In a dialog where something is open, and on the page of the file that is not. */
static void
test_error (Place *place, gconstpointer data)
{
  g_autofree char *bad = NULL, *marked = NULL, *on_page = NULL;
  GantryWindow *second;
  GtkWidget *dialog;

  if (place->window == NULL)
    return;
  bad = g_build_filename (place->folder, "bad.gir", NULL);
  write_text (bad, "module \"m\" {\n  func @main #1 (%1 \"x\": f32[4]) -> (%2) {\n    %2 = tanhh(%1): f32[4]\n  }\n}\n");
  window_test_open (place->window, bad);
  views_wait_until ((dialog = window_test_dialog ("error")) != NULL);
  marked = error_shown (dialog);
  g_assert_cmpstr (marked, ==, "tanhh");
  gtk_window_destroy (GTK_WINDOW (dialog));
  second = window_test_new ();
  window_test_open (second, bad);
  g_assert_cmpstr (gantry_window_get_page (second), ==, "error");
  on_page = error_shown (GTK_WIDGET (second));
  g_assert_cmpstr (on_page, ==, "tanhh");
  window_test_free (second);
  g_unlink (bad);
}

static const char no_graph[] = "import numpy as np\nimport mindspore as ms\nfrom mindspore import nn, Tensor\n\n"
                               "ms.set_context(mode=ms.GRAPH_MODE)\n\n\nclass A(nn.Cell):\n    def construct(self, x):\n"
                               "        return x.foo(1)\n\n\nclass B(nn.Cell):\n    def construct(self, x):\n        return x + nothing\n\n\n"
                               "for net in A(), B():\n    try:\n        net(Tensor(np.ones((2, 3), np.float32)))\n"
                               "    except Exception:\n        pass\n";

/* All that no graph could be made of, each at its line. */
static void
test_program_error (Place *place, gconstpointer data)
{
  g_autofree char *path = NULL, *cli = g_build_filename (g_getenv ("GANTRY_BUILD_ROOT"), "app", "gantry-cli", NULL), *marked = NULL;
  GtkWidget *dialog;

  if (!g_file_test (cli, G_FILE_TEST_IS_EXECUTABLE))
    {
      g_test_skip ("without gantry-cli no program runs");
      return;
    }
  if (place->window == NULL)
    return;
  g_setenv ("GANTRY_CLI", cli, TRUE);
  path = g_build_filename (place->folder, "program.py", NULL);
  write_text (path, no_graph);
  gantry_window_open (place->window, path);
  views_wait_until ((dialog = window_test_dialog ("program")) != NULL);
  adw_message_dialog_response (ADW_MESSAGE_DIALOG (dialog), "allow");
  gtk_window_destroy (GTK_WINDOW (dialog));
  views_wait_until ((dialog = window_test_dialog ("error")) != NULL);
  g_assert_true (window_test_has_text (dialog, "program.py:10:9: AttributeError: "));
  g_assert_true (window_test_has_text (dialog, "program.py:15:9: NameError: "));
  marked = error_shown (dialog);
  g_assert_cmpstr (marked, ==, "return");
  gtk_window_destroy (GTK_WINDOW (dialog));
  g_unlink (path);
}

static const char graph[] = "import numpy as np\nimport mindspore as ms\nfrom mindspore import nn, ops, Tensor\n\n"
                            "ms.set_context(mode=ms.GRAPH_MODE)\n\n\nclass A(nn.Cell):\n    def construct(self, x):\n"
                            "        y = ops.tanh(x)\n        return ops.exp(y)\n\n\nA()(Tensor(np.ones((2, 3), np.float32)))\n";

/* A program that is saved while it is open: loaded again where the user says so, from then on each time; what is wrong with it is said at
 * its line, and gone with the next save. */
static void
test_program (Place *place, gconstpointer data)
{
  g_autofree char *path = NULL, *cli = g_build_filename (g_getenv ("GANTRY_BUILD_ROOT"), "app", "gantry-cli", NULL), *marked = NULL;
  g_autoptr (GString) moved = g_string_new (graph), broken = g_string_new (graph);
  GtkWidget *dialog;

  if (!g_file_test (cli, G_FILE_TEST_IS_EXECUTABLE))
    {
      g_test_skip ("without gantry-cli no program runs");
      return;
    }
  if (place->window == NULL)
    return;
  g_setenv ("GANTRY_CLI", cli, TRUE);
  path = g_build_filename (place->folder, "program.py", NULL);
  write_text (path, graph);
  gantry_window_open (place->window, path);
  views_wait_until ((dialog = window_test_dialog ("program")) != NULL);
  adw_message_dialog_response (ADW_MESSAGE_DIALOG (dialog), "allow");
  gtk_window_destroy (GTK_WINDOW (dialog));
  window_test_wait (place->window);
  g_assert_cmpstr (gantry_source_page_get_path (place->page), ==, path);
  gantry_source_view_choose_line (place->view, 10);
  window_test_wait (place->window);
  g_assert_cmpuint (gantry_selection_count (place->selection), ==, 1);
  /* One line further down. */
  g_string_prepend (moved, "# moved\n");
  write_text (path, moved->str);
  reload (place);
  g_assert_null (window_test_dialog ("error"));
  g_assert_true (gantry_source_view_is_marked (place->view, 11) && !gantry_source_view_is_marked (place->view, 10));
  /* By itself. */
  g_action_group_change_action_state (G_ACTION_GROUP (place->window), "reload-when-saved", g_variant_new_boolean (TRUE));
  g_string_replace (broken, "ops.exp", "ops.exq", 0);
  write_text (path, broken->str);
  views_wait_until (gantry_source_page_get_note (place->page) != NULL && strstr (gantry_source_page_get_note (place->page), "exq") != NULL);
  marked = gantry_source_view_get_marked (place->view, TRUE);
  g_assert_cmpstr (marked, !=, "");
  g_assert_nonnull (strstr ("return ops.exq(y)", marked));
  g_assert_null (window_test_dialog ("error"));
  write_text (path, graph);
  views_wait_until (gantry_source_page_get_note (place->page) == NULL);
  window_test_wait (place->window);
  g_assert_true (gantry_source_view_is_marked (place->view, 10));
  g_unlink (path);
}

static void
write_checkpointed (const char *path, const char *policy)
{
  g_autofree char *text = g_strdup_printf ("import jax, jax.numpy as jnp\nfrom jax import checkpoint_policies as cp\n"
                                           "f = jax.checkpoint(lambda x: jnp.sum(jnp.sin(jnp.sin(x) @ x)), policy=cp.%s)\n"
                                           "jax.jit(jax.grad(f)).lower(jnp.ones((4, 4))).compile()\n",
                                           policy);

  write_text (path, text);
}

static const char *
policy_of (Place *place)
{
  const char *policy = gantry_document_get_settings (gantry_window_get_document (place->window))->policy;

  return policy != NULL ? policy : "";
}

/* What a program says of memory is followed when it is loaded again, until the user says something else. */
static void
test_policy (Place *place, gconstpointer data)
{
  g_autofree char *path = NULL, *cli = g_build_filename (g_getenv ("GANTRY_BUILD_ROOT"), "app", "gantry-cli", NULL);
  GtkWidget *dialog;

  if (!g_file_test (cli, G_FILE_TEST_IS_EXECUTABLE))
    {
      g_test_skip ("without gantry-cli no program runs");
      return;
    }
  if (place->window == NULL)
    return;
  g_setenv ("GANTRY_CLI", cli, TRUE);
  path = g_build_filename (place->folder, "policy.py", NULL);
  write_checkpointed (path, "nothing_saveable");
  gantry_window_open (place->window, path);
  views_wait_until ((dialog = window_test_dialog ("program")) != NULL);
  adw_message_dialog_response (ADW_MESSAGE_DIALOG (dialog), "allow");
  gtk_window_destroy (GTK_WINDOW (dialog));
  window_test_wait (place->window);
  g_assert_true (g_str_has_prefix (policy_of (place), "policy nothing_saveable in "));
  write_checkpointed (path, "dots_saveable");
  reload (place);
  window_test_wait (place->window);
  g_assert_true (g_str_has_prefix (policy_of (place), "policy dots_saveable in "));
  g_assert_true (gantry_document_set_policy (gantry_window_get_document (place->window), "op:dot keep", NULL));
  window_test_wait (place->window);
  write_checkpointed (path, "everything_saveable");
  reload (place);
  window_test_wait (place->window);
  g_assert_cmpstr (policy_of (place), ==, "op:dot keep");
  g_unlink (path);
}

static const char words[] = "#!/usr/bin/python\n# comment\nimport os\nfrom a import b\n@decorator\nclass Net(object):\n    \"\"\"text\"\"\"\n"
                            "    def __init__(self, n=10):\n        self.x = [1.5, 0x1f, None, True, 'a\\n', f'{n}', print(n)]\n"
                            "        return lambda y: y if y else not len(y)\n\nif 3 > 2:\n    pass\n";

/* Comments, strings, names, numbers of lines, headings: in both themes. */
static void
test_contrast (Place *place, gconstpointer data)
{
  static const char *const grounds[] = { "#fcfcfc", "#262626" };
  AdwStyleManager *style = adw_style_manager_get_default ();
  GtkWidget *text;

  if (place->window == NULL)
    return;
  write_text (place->net, words);
  write_text (place->model, "module \"m\" {\n  func @main #1 (%1 \"x\": f32[4] loc(\"net.py\":8:11)) -> (%2) {\n"
                            "    %2 = tanh(%1): f32[4] loc(\"net.py\":9:9)\n  }\n}\n");
  window_test_open (place->window, place->model);
  text = window_test_find_type (GTK_WIDGET (place->view), "GtkSourceView");
  g_assert_nonnull (text);
  for (guint dark = 0; dark < 2; dark++)
    {
      GdkRGBA ground;
      guint n;

      g_assert_true (gdk_rgba_parse (&ground, grounds[dark]));
      adw_style_manager_set_color_scheme (style, dark ? ADW_COLOR_SCHEME_FORCE_DARK : ADW_COLOR_SCHEME_FORCE_LIGHT);
      views_wait_frame (text);
      g_assert_cmpfloat (window_test_contrast (text, &ground, &n), >=, 4.5);
      g_assert_cmpuint (n, >, 40);
    }
  adw_style_manager_set_color_scheme (style, ADW_COLOR_SCHEME_DEFAULT);
}

#define LINES 100000u

/* A long file: what is selected comes into sight, and again after it was scrolled away. */
static void
test_long (Place *place, gconstpointer data)
{
  g_autoptr (GString) text = NULL, model = NULL;
  guint32 ids[] = { 2, 3 };

  if (place->window == NULL)
    return;
  text = g_string_new (NULL);
  model = g_string_new ("module \"m\" {\n  func @main #1 (%1 \"x\": f32[4] loc(\"net.py\":1:1)) -> (%3) {\n");
  for (guint i = 1; i <= LINES; i++)
    g_string_append_printf (text, "y%u = f(x)\n", i);
  g_string_append_printf (model, "    %%2 = tanh(%%1): f32[4] loc(\"net.py\":%u:8)\n", LINES - 100);
  g_string_append_printf (model, "    %%3 = exponential(%%2): f32[4] loc(\"net.py\":%u:9)\n  }\n}\n", LINES / 2);
  write_text (place->net, text->str);
  write_text (place->model, model->str);
  window_test_open (place->window, place->model);
  for (guint i = 0; i < 4; i++)
    {
      select_node (place, 0, ids[i % 2]);
      views_wait_until (gantry_source_view_is_in_sight (place->view, i % 2 == 0 ? LINES - 100 : LINES / 2));
      g_assert_false (gantry_source_view_is_in_sight (place->view, i % 2 == 0 ? LINES / 2 : LINES - 100));
    }
}

static void
add_test (const char *path, void (*test) (Place *place, gconstpointer data))
{
  g_test_add (path, Place, NULL, set_up, test, tear_down);
}

static GtkWidget *
place_button (GtkWidget *box, const char *what)
{
  for (GtkWidget *child = gtk_widget_get_first_child (box); child != NULL; child = gtk_widget_get_next_sibling (child))
    if (strstr (gtk_widget_get_tooltip_text (child), what) != NULL)
      return child;
  return NULL;
}

/* A kernel leads to each place that it was made of; of a node with one place nothing more is said. */
static void
test_chain (Place *place, gconstpointer data)
{
  GtkWidget *box;
  guint last;

  if (place->window == NULL)
    return;
  select_node (place, 0, 2);
  g_assert_false (gtk_widget_get_mapped (window_test_find (GTK_WIDGET (place->page), "places")));
  last = compilation_of (place)->n_snapshots - 1;
  gantry_pass_list_select (gantry_window_get_pass_list (place->window), last);
  gantry_source_view_choose_line (place->view, 4);
  window_test_wait (place->window);
  box = window_test_find (GTK_WIDGET (place->page), "places");
  g_assert_true (gtk_widget_get_mapped (box));
  g_signal_emit_by_name (place_button (box, "net.py:3"), "clicked");
  window_test_wait (place->window);
  check_marked (place, "3 4 ", "f.tanh");
  g_signal_emit_by_name (place_button (box, "other.py:"), "clicked");
  window_test_wait (place->window);
  g_assert_cmpstr (gantry_source_page_get_path (place->page), ==, place->other);
  g_assert_cmpuint (gantry_selection_snapshot (place->selection), ==, last);
}

int
main (int argc, char **argv)
{
  window_test_init (&argc, &argv);
  add_test ("/app/source/node-to-line", test_node_to_line);
  add_test ("/app/source/line-to-nodes", test_line_to_nodes);
  add_test ("/app/source/columns", test_columns);
  add_test ("/app/source/chain", test_chain);
  add_test ("/app/source/link", test_link);
  add_test ("/app/source/costs", test_costs);
  add_test ("/app/source/measured", test_measured);
  add_test ("/app/source/reload", test_reload);
  add_test ("/app/source/no-text", test_no_text);
  add_test ("/app/source/no-lines", test_no_lines);
  add_test ("/app/source/error", test_error);
  add_test ("/app/source/program-error", test_program_error);
  add_test ("/app/source/program", test_program);
  add_test ("/app/source/policy", test_policy);
  add_test ("/app/source/contrast", test_contrast);
  add_test ("/app/source/long", test_long);
  return window_test_run ();
}
