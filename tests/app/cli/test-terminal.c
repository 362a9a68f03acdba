/* SPDX-License-Identifier: Apache-2.0 */
/* What names in a file of a stranger say to a terminal does not reach it, on standard output and on standard error, as text and as JSON. */
#include "tests/app/cli/cli-test.h"
#include <string.h>

/* Each as long as what it takes the place of, so that the lengths that the file says stay right. */
static const struct
{
  const char *model, *word, *name;
} changes[] = {
  { "open-batch.onnx", "batch", "\033[2Jb" },    { "open-batch.onnx", "batch", "a\nb\tc" },     { "open-batch.onnx", "batch", "\342\200\256xy" },
  { "open-batch.onnx", "batch", "\302\23331m" }, { "sample.onnx", "stem", "\033[2J" },          { "sample.onnx", "conv", "a\nb\t" },
  { "sample.onnx", "Relu", "\033[2J" },          { "sample.onnx", "image", "\342\200\256x\r" }, { "unknown-operation.onnx", "main", "\033[2J" },
};

static char *
write_model (const char *folder, guint i)
{
  g_autofree char *from = cli_own_file (changes[i].model), *bytes = NULL, *path = g_build_filename (folder, "m.onnx", NULL);
  const gsize length = strlen (changes[i].word);
  gsize n;

  g_assert_cmpuint (strlen (changes[i].name), ==, length);
  g_assert_true (g_file_get_contents (from, &bytes, &n, NULL));
  for (gsize at = 0; at + length <= n; at++)
    if (memcmp (bytes + at, changes[i].word, length) == 0)
      memcpy (bytes + at, changes[i].name, length);
  g_assert_true (g_file_set_contents (path, bytes, (gssize) n, NULL));
  return g_steal_pointer (&path);
}

static void
assert_plain (const char *text, const char *name)
{
  for (const char *at = text; *at != '\0'; at = g_utf8_next_char (at))
    {
      gunichar c = g_utf8_get_char (at);

      if ((c < ' ' && c != '\n') || (c >= 0x7f && c < 0xa0) || (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069))
        g_error ("U+%04X in: %s", c, text);
    }
  if (strchr (name, '\n') != NULL)
    g_assert_null (strstr (text, name));
}

/* The object holds the name as it is. */
static void
assert_json (const CliResult *result, const char *name, gboolean *found)
{
  g_autoptr (JsonNode) root = cli_json (result);
  g_autoptr (JsonGenerator) generator = json_generator_new ();
  g_autofree char *escaped = NULL, *text = NULL, *quoted = NULL;
  g_autoptr (JsonNode) string = json_node_init_string (json_node_alloc (), name);

  json_generator_set_root (generator, root);
  text = json_generator_to_data (generator, NULL);
  quoted = json_to_string (string, FALSE);
  escaped = g_strndup (quoted + 1, strlen (quoted) - 2);
  *found = *found || strstr (text, escaped) != NULL;
}

static void
test_names (void)
{
  static const char *const commands[] = { "info",
                                          "passes",
                                          "passes --after=legalize",
                                          "passes --progress",
                                          "plan",
                                          "plan --rules=name:x&recompute",
                                          "run --runs=1 --slowest=9",
                                          "compile",
                                          "export --snapshot=nowhere -o FOLDER/x.gir",
                                          "train",
                                          "export -o FOLDER/x.mlir",
                                          "run --input=x=zeros --input=y=zeros",
                                          "passes --set=x=[1,2]",
                                          "render --view=memory -o FOLDER/x.svg" };

  for (guint i = 0; i < G_N_ELEMENTS (changes); i++)
    {
      char *folder = cli_temporary_folder ();
      g_autofree char *model = write_model (folder, i);
      gboolean found = FALSE;

      for (guint k = 0; k < G_N_ELEMENTS (commands); k++)
        for (guint json = 0; json < 2; json++)
          {
            g_auto (GStrv) parts = g_strsplit (commands[k], "FOLDER", -1), words = NULL;
            g_autofree char *all = g_strjoinv (folder, parts);
            g_autoptr (GPtrArray) arguments = g_ptr_array_new ();
            g_autoptr (CliResult) result = NULL;

            words = g_strsplit (all, " ", -1);
            for (guint w = 0; words[w] != NULL; w++)
              g_ptr_array_add (arguments, g_strdelimit (words[w], "&", ' '));
            if (json == 1)
              g_ptr_array_add (arguments, (char *) "--json");
            g_ptr_array_add (arguments, model);
            result = cli_runv (arguments);
            g_test_message ("%s, %u", commands[k], i);
            assert_plain (result->out, changes[i].name);
            assert_plain (result->err, changes[i].name);
            if (json == 1 && result->status == 0 && *result->out == '{')
              assert_json (result, changes[i].name, &found);
          }
      g_assert_true (found || strcmp (changes[i].word, "main") == 0);
      cli_remove_folder (folder);
    }
}

/* What a trace calls its threads. */
static void
test_trace (void)
{
  static const char text[] = "{\"traceEvents\":[{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":1,\"args\":{\"name\":\"\\u001b[2J\\n\\tx\\u202e\"}},"
                             "{\"ph\":\"X\",\"name\":\"\\u001b[2J\",\"cat\":\"kernel\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":5}]}";
  static const char name[] = "\033[2J\n\tx\342\200\256";
  char *folder = cli_temporary_folder ();
  g_autofree char *path = g_build_filename (folder, "t.json", NULL);
  g_autoptr (CliResult) plain = NULL, json = NULL;
  gboolean found = FALSE;

  g_assert_true (g_file_set_contents (path, text, -1, NULL));
  plain = cli_run ("info", path, NULL);
  json = cli_run ("info", "--json", path, NULL);
  cli_assert_status (plain, 0);
  cli_assert_status (json, 0);
  assert_plain (plain->out, name);
  assert_plain (json->out, name);
  assert_json (json, name, &found);
  g_assert_true (found);
  cli_remove_folder (folder);
}

/* No name begins a line that looks like one of the program's own. */
static void
test_message (void)
{
  g_autoptr (CliResult) result = cli_run ("info", "no\ngantry-cli info: such\tfile\033[2J.onnx", NULL);
  g_auto (GStrv) lines = g_strsplit (g_strchomp (result->err), "\n", -1);

  cli_assert_status (result, 1);
  assert_plain (result->err, "no\ngantry");
  for (guint i = 0; lines[i] != NULL; i++)
    g_assert_true (i == 0 ? g_str_has_prefix (lines[i], "gantry-cli info: ") : g_str_has_prefix (lines[i], "  "));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/cli/terminal/names", test_names);
  g_test_add_func ("/cli/terminal/trace", test_trace);
  g_test_add_func ("/cli/terminal/message", test_message);
  return g_test_run ();
}
