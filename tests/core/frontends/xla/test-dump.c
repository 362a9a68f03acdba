/* SPDX-License-Identifier: Apache-2.0 */
/* Folders of XLA's dumps: which files are modules of which compilation, in which order; nodes found again from pass to pass; limits and
 * strange names. */
#include "core/frontends/xla/assignment.h"
#include "core/frontends/xla/dump.h"
#include "core/graph/verifier.h"
#include <gio/gio.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TEXT "HloModule m\n\nENTRY main {\n  x = f32[2]{0} parameter(0)\n  ROOT y = f32[2]{0} add(x, x)\n}\n"

static void
put (const char *folder, const char *name, const char *text)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);

  g_assert_true (g_file_set_contents (path, text, -1, NULL));
}

static void
remove_folder (const char *folder)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (folder, name, NULL);

      g_remove (path);
    }
  g_rmdir (folder);
}

static const GantryXlaDumpCompilation *
compilation (const GantryXlaDump *dump, guint i)
{
  return g_ptr_array_index (dump->compilations, i);
}

static const GantryXlaDumpModule *
module (const GantryXlaDumpCompilation *compilation, guint i)
{
  return g_ptr_array_index (compilation->modules, i);
}

/* Order is that of the steps, whatever the folder says; names with points, GPUs' prefixes and times are read. */
static void
test_names (void)
{
  static const char *const names[] = {
    "module_0005.jit_step.sm_8.0_gpu_after_optimizations.txt",
    "module_0005.jit_step.0010.fusion.after_b.before_pipeline-end.txt",
    "module_0005.jit_step.0002.after_layout.after_a.txt",
    "module_0005.jit_step.before_optimizations.txt",
    "module_0005.jit_step.sm_8.0_gpu_after_optimizations-buffer-assignment.txt",
    "module_0005.jit_step.sm_8.0_gpu_after_optimizations-live-range.txt",
    "module_0005.jit_step.sm_8.0_gpu_after_optimizations-memory-usage-report.txt",
    "module_0005.jit_step.ir-with-opt.ll",
    "module_0005.jit_step.txt",
    "module_0011.jit_step.before_optimizations.txt",
    "1700000000.module_0012.Sync.25.cpu_after_optimizations.txt",
    "1700000000.module_0012.Sync.25.0003.p.after_q.before_r.txt",
    "module_0013.cpu_after_optimizations-live-range.txt",
    "notes.txt",
    "module_0014.before_optimizations.txt",
    "module_.before_optimizations.txt",
    "module_99999999999999999999.x.before_optimizations.txt",
    "module_0005.jit_step.00020000000000000000.p.after_z.txt",
    "module_0005.jit_step.before_optimizations.hlo.pb",
    "module_0005.jit_step.0002.after_layout.after_a.hlo.pb",
    "module_0020.pb.cpu_after_optimizations.hlo.pb",
  };
  static const char *const order[] = { "before_optimizations", "a", "b", "z", "after_optimizations" };
  g_autofree char *folder = g_dir_make_tmp ("gantry-dump-XXXXXX", NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryXlaDump) dump = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    put (folder, names[i], TEXT);
  dump = gantry_xla_dump_list (folder, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (dump->compilations->len, ==, 6);
  g_assert_cmpstr (compilation (dump, 0)->name, ==, "jit_step");
  g_assert_cmpuint (compilation (dump, 0)->modules->len, ==, G_N_ELEMENTS (order));
  for (guint i = 0; i < G_N_ELEMENTS (order); i++)
    g_assert_cmpstr (module (compilation (dump, 0), i)->pass, ==, order[i]);
  g_assert_cmpstr (module (compilation (dump, 0), 1)->pipeline, ==, "after_layout");
  g_assert_cmpstr (compilation (dump, 0)->assignment, ==, names[4]);
  g_assert_cmpstr (compilation (dump, 0)->live_ranges, ==, names[5]);
  g_assert_cmpstr (compilation (dump, 1)->name, ==, "jit_step#2");
  g_assert_cmpstr (compilation (dump, 2)->name, ==, "Sync.25");
  g_assert_cmpstr (module (compilation (dump, 2), 0)->pass, ==, "q");
  g_assert_cmpstr (compilation (dump, 3)->name, ==, "module_0014");
  g_assert_cmpstr (compilation (dump, 4)->name, ==, "pb");
  g_assert_cmpstr (compilation (dump, 5)->name, ==, "x");
  remove_folder (folder);
}

/* What is no file of the folder itself is not read: links, queues, folders; nor is a name that a terminal would obey. */
static void
test_strange (void)
{
  g_autofree char *folder = g_dir_make_tmp ("gantry-dump-XXXXXX", NULL), *other = g_dir_make_tmp ("gantry-dump-XXXXXX", NULL);
  g_autofree char *link = g_build_filename (folder, "module_0001.a.before_optimizations.txt", NULL), *target = g_build_filename (other, "x.txt", NULL);
  g_autofree char *queue = g_build_filename (folder, "module_0002.b.before_optimizations.txt", NULL);
  g_autofree char *own = g_build_filename (folder, "module_0003.c.before_optimizations.txt", NULL);
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryXlaInfo) info = NULL;
  g_autoptr (GantryXlaDump) dump = gantry_xla_dump_list (folder, &error);

  g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID);
  g_assert_nonnull (strstr (error->message, "--xla_dump_to"));
  g_clear_error (&error);
  put (other, "x.txt", TEXT);
  g_assert_cmpint (symlink (target, link), ==, 0);
  g_assert_cmpint (mkfifo (queue, 0600), ==, 0);
  g_assert_null (gantry_xla_dump_list (folder, &error));
  g_assert_nonnull (strstr (error->message, "1 files of a dump are symbolic links"));
  g_clear_error (&error);
  put (folder, "module_0003.c.before_optimizations.txt", TEXT);
  put (folder, "module_0004.\033[2J.before_optimizations.txt", TEXT);
  dump = gantry_xla_dump_list (folder, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (dump->compilations->len, ==, 1);
  g_assert_cmpuint (dump->n_links, ==, 1);
  g_assert_cmpuint (dump->problems->len, ==, 1);
  g_assert_cmpstr (g_ptr_array_index (dump->problems, 0), ==, "module_0002.b.before_optimizations.txt: is a pipe, not a file, and left out");
  /* Exchanged for a link since. */
  g_remove (own);
  g_assert_cmpint (symlink (target, own), ==, 0);
  g_assert_null (gantry_xla_dump_read (dump, compilation (dump, 0), context, &info, NULL, &error));
  g_assert_nonnull (strstr (error->message, own));
  remove_folder (folder);
  remove_folder (other);
}

/* Of both modules, the nodes that are the other's or came of them. */
static void
count_matched (const GantryModule *before, const GantryModule *after, guint64 *matched, guint64 *all)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);

  for (guint32 i = 0; i < after->n_nodes; i++)
    {
      const GantryNode *node = &after->nodes[i];
      gboolean same = gantry_module_node (before, node->id) != NULL;

      *matched += same || node->n_origins > 0;
      if (same)
        g_hash_table_add (seen, GUINT_TO_POINTER (node->id));
      for (guint j = 0; j < node->n_origins; j++)
        {
          g_assert_nonnull (gantry_module_node (before, after->origins[node->origins + j]));
          g_hash_table_add (seen, GUINT_TO_POINTER (after->origins[node->origins + j]));
        }
    }
  for (guint32 i = 0; i < before->n_nodes; i++)
    {
      guint32 next = gantry_module_successor (after, before->nodes[i].id);

      if (next != 0 && next != before->nodes[i].id && gantry_module_node (after, next) != NULL)
        g_hash_table_add (seen, GUINT_TO_POINTER (before->nodes[i].id));
    }
  *matched += g_hash_table_size (seen);
  *all += before->n_nodes + after->n_nodes;
}

/* What is not followed: which operations, how often. Returns: how many nodes of @before are gone without a trace */
static guint
tell_rest (const GantryModule *before, const GantryModule *after)
{
  guint gone = 0;
  g_autoptr (GHashTable) from = g_hash_table_new (NULL, NULL);
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint32 i = 0; i < after->n_nodes; i++)
    {
      const GantryNode *node = &after->nodes[i];

      for (guint j = 0; j < node->n_origins; j++)
        g_hash_table_add (from, GUINT_TO_POINTER (after->origins[node->origins + j]));
      if (gantry_module_node (before, node->id) == NULL && node->n_origins == 0)
        g_string_append_printf (text, " +%s", gantry_node_op_name (after, node));
    }
  for (guint32 i = 0; i < before->n_nodes; i++)
    if (gantry_module_successor (after, before->nodes[i].id) == 0 && !g_hash_table_contains (from, GUINT_TO_POINTER (before->nodes[i].id)))
      {
        g_string_append_printf (text, " -%s", gantry_node_op_name (before, &before->nodes[i]));
        gone++;
      }
  g_test_message ("made and gone:%s", text->str);
  return gone;
}

/* Reads a compilation. Returns: the matched share of the nodes of consecutive modules that are not the same one */
static double
share_of (GantryXlaDump *dump, const GantryXlaDumpCompilation *one)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryXlaInfo) info = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) modules = gantry_xla_dump_read (dump, one, context, &info, NULL, &error);
  guint64 matched = 0, all = 0;
  double least = 1;
  guint n = 0;

  g_assert_no_error (error);
  g_assert_cmpuint (modules->len, ==, one->modules->len);
  for (guint i = 1; i < modules->len; i++)
    {
      const GantryModule *before = g_ptr_array_index (modules, i - 1), *after = g_ptr_array_index (modules, i);
      guint64 own = 0, both = 0;

      if (before == after)
        continue;
      count_matched (before, after, &own, &both);
      least = MIN (least, (double) own / (double) both);
      /* Less is followed only where a pass makes nodes, as one that inserts copies does. */
      if ((double) own / (double) both < 0.9)
        g_assert_cmpuint (10 * tell_rest (before, after), <=, before->n_nodes);
      if ((double) own / (double) both < 0.9)
        g_test_message ("%s: %.1f %% of %" G_GUINT64_FORMAT, module (one, i)->file, 100.0 * (double) own / (double) both, both);
      matched += own;
      all += both;
      n++;
    }
  g_test_message ("%s: %u passes, %u of them change something, %.1f %% matched, %.1f %% of the worst pass", one->name, modules->len - 1, n,
                  all > 0 ? 100.0 * (double) matched / (double) all : 100.0, 100 * least);
  return all > 0 ? (double) matched / (double) all : 1;
}

/* A small dump that lies in the tree: what is followed through which pass, and an error that names its file. */
static void
test_fixture (void)
{
  g_autofree char *folder = g_build_filename (g_getenv ("GANTRY_SOURCE_ROOT"), "tests", "fixtures", "xla-dump", NULL);
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryXlaInfo) info = NULL;
  g_autoptr (GantryXlaDump) dump = gantry_xla_dump_list (folder, &error);
  g_autoptr (GPtrArray) modules = NULL;

  g_assert_no_error (error);
  g_assert_cmpuint (dump->compilations->len, ==, 1);
  g_assert_cmpfloat (share_of (dump, compilation (dump, 0)), >=, 0.9);
  modules = gantry_xla_dump_read (dump, compilation (dump, 0), context, &info, NULL, &error);
  g_assert_no_error (error);
  /* What pipelines begin with is what there was. */
  g_assert_true (g_ptr_array_index (modules, 0) == g_ptr_array_index (modules, 1));
  g_assert_true (g_ptr_array_index (modules, 0) != g_ptr_array_index (modules, 2));
  for (guint i = 0; i < modules->len; i++)
    g_assert_true (gantry_verify (g_ptr_array_index (modules, i), NULL, &error));
}

/* One of the files ends too early: the others are read, and it is told by name. Where none can be read there is no dump. */
static void
test_broken (void)
{
  static const char *const files[] = { "module_0001.f.before_optimizations.txt", "module_0001.f.0000.p.after_a.txt",
                                       "module_0001.f.cpu_after_optimizations.txt" };
  g_autofree char *folder = g_dir_make_tmp ("gantry-dump-XXXXXX", NULL);

  for (guint i = 0; i <= G_N_ELEMENTS (files); i++)
    {
      g_autoptr (GPtrArray) modules = NULL;
      g_autoptr (GantryContext) context = gantry_context_new ();
      g_autoptr (GError) error = NULL;
      g_autoptr (GantryXlaInfo) info = NULL;
      g_autoptr (GantryXlaDump) dump = NULL;

      for (guint j = 0; j < G_N_ELEMENTS (files); j++)
        {
          g_autofree char *text = g_strndup (TEXT, i == j || i == G_N_ELEMENTS (files) ? strlen (TEXT) - 30 : strlen (TEXT));

          put (folder, files[j], text);
        }
      dump = gantry_xla_dump_list (folder, &error);
      g_assert_no_error (error);
      modules = gantry_xla_dump_read (dump, compilation (dump, 0), context, &info, NULL, &error);
      if (i == G_N_ELEMENTS (files))
        {
          g_assert_null (modules);
          g_assert_nonnull (strstr (error->message, files[0]));
          g_assert_null (info);
          continue;
        }
      g_assert_no_error (error);
      g_assert_cmpuint (modules->len, ==, G_N_ELEMENTS (files));
      for (guint j = 0; j < modules->len; j++)
        g_assert_true ((g_ptr_array_index (modules, j) == NULL) == (i == j));
      g_assert_cmpuint (dump->problems->len, ==, 1);
      g_assert_nonnull (strstr (g_ptr_array_index (dump->problems, 0), files[i]));
      g_assert_cmpuint (info->n_operations, ==, 2);
    }
  remove_folder (folder);
}

/* What has another operation is another node, and comes from what it was; what is read elsewhere keeps its id; what is left out is gone. */
static void
test_match (void)
{
  static const char first[] = "HloModule m\n\nENTRY main {\n  x = f32[2]{0} parameter(0)\n  a = f32[2]{0} negate(x)\n  b = f32[2]{0} negate(a)\n"
                              "  c = f32[2]{0} multiply(b, x), metadata={op_name=\"f/c\"}\n  ROOT d = f32[2]{0} sine(c)\n}\n";
  static const char second[] = "HloModule m\n\nENTRY main {\n  x.9 = f32[2]{0} parameter(0)\n"
                               "  c.1 = f32[2]{0} power(x.9, x.9), metadata={op_name=\"f/c\"}\n  ROOT d.7 = f32[2]{0} sine(c.1)\n}\n";
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModule) before = gantry_xla_import_text (context, first, strlen (first), "first", NULL, NULL, NULL, &error), after = NULL;
  guint32 last_id = gantry_context_last_node_id (context);
  GantryXlaOptions options = { .module = -1, .like = before };
  GantryXlaMatch match;

  g_assert_no_error (error);
  after = gantry_xla_import_text (context, second, strlen (second), "second", &options, NULL, NULL, &error);
  g_assert_no_error (error);
  after = gantry_xla_match (before, after, last_id, &match, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (match.n_before, ==, 5);
  g_assert_cmpuint (match.n_after, ==, 3);
  g_assert_cmpuint (match.n_matched, ==, 3);
  g_assert_cmpuint (after->nodes[0].id, ==, before->nodes[0].id);
  g_assert_cmpuint (after->nodes[1].id, ==, last_id + 1);
  g_assert_cmpuint (after->nodes[1].n_origins, ==, 1);
  g_assert_cmpuint (after->origins[after->nodes[1].origins], ==, before->nodes[3].id);
  g_assert_cmpuint (after->nodes[2].id, ==, before->nodes[4].id);
  g_assert_cmpuint (gantry_node_operand_id (after, &after->nodes[2], 0), ==, last_id + 1);
}

/* The curve of the small dump, which XLA's own peak in the same file agrees with; places that are taken once, and no more than there is. */
static void
test_assignment (void)
{
  static const guint64 curve[] = { 160, 160, 224, 288, 352 }, over_curve[] = { 8, 12, 12 };
  static const char over[] = "allocation 0: size 12, preallocated-temp:\n value: <0 a @0> (size=8,offset=0): f32[2]\n"
                             " value: <1 b{0} (phi) @0> (size=8,offset=0): f32[2]\n value: <2 c @0> (size=8,offset=4): f32[2]\n"
                             "allocation 1: size 4, thread-local:\nallocation 2: size 64, color 5, parameter 0, shape |f32[16]| at ShapeIndex {}:\n"
                             " value: <9 h @5> (size=64,offset=0): f32[16]{0:S(5)}\n";
  static const char ranges[] = "HloLiveRange (max 3):\n  InstructionSequence:\n    0:a\n    1:b\n    2:c\n  BufferLiveRange:\n"
                               "    a{}:0-1\n    b{0}:1-2\n    c{}:1-3\n";
  g_autofree char *folder = g_build_filename (g_getenv ("GANTRY_SOURCE_ROOT"), "tests", "fixtures", "xla-dump", NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryXlaDump) dump = gantry_xla_dump_list (folder, &error);
  g_autoptr (GMappedFile) text = gantry_xla_dump_map (dump, compilation (dump, 0)->assignment, &error);
  g_autoptr (GMappedFile) live = gantry_xla_dump_map (dump, compilation (dump, 0)->live_ranges, &error);
  g_autoptr (GantryXlaAssignment)
    assignment = gantry_xla_assignment_parse (g_mapped_file_get_contents (text), g_mapped_file_get_length (text), "a.txt", &error);
  g_autoptr (GantryXlaAssignment) second = gantry_xla_assignment_parse (over, strlen (over), "b.txt", &error);

  g_assert_no_error (error);
  g_assert_cmpuint (assignment->total_bytes, ==, 352);
  g_assert_cmpuint (assignment->bytes[GANTRY_XLA_ALLOCATION_ARGUMENT], ==, 160);
  g_assert_cmpuint (assignment->bytes[GANTRY_XLA_ALLOCATION_OUTPUT], ==, 128);
  g_assert_cmpuint (assignment->bytes[GANTRY_XLA_ALLOCATION_TEMPORARY], ==, 64);
  g_assert_null (assignment->live_bytes);
  g_assert_true (gantry_xla_assignment_read_live_ranges (assignment, g_mapped_file_get_contents (live), g_mapped_file_get_length (live), "a.txt", &error));
  g_assert_cmpuint (assignment->steps->len, ==, G_N_ELEMENTS (curve));
  g_assert_cmpmem (assignment->live_bytes, sizeof curve, curve, sizeof curve);
  g_assert_cmpstr (g_ptr_array_index (assignment->steps, assignment->peak_step), ==, "dot");
  g_assert_nonnull (g_strstr_len (g_mapped_file_get_contents (live), (gssize) g_mapped_file_get_length (live), "(cumulative: 352 bytes)"));
  g_assert_true (gantry_xla_assignment_read_live_ranges (second, ranges, strlen (ranges), "b.txt", &error));
  g_assert_cmpmem (second->live_bytes, sizeof over_curve, over_curve, sizeof over_curve);
  g_assert_cmpuint (second->bytes[GANTRY_XLA_ALLOCATION_THREAD_LOCAL], ==, 4);
  g_assert_cmpuint (second->bytes[GANTRY_XLA_ALLOCATION_HOST], ==, 64);
  g_assert_cmpuint (second->total_bytes, ==, 16);
}

/* What contradicts itself names its line. */
static void
test_assignment_wrong (void)
{
  static const struct
  {
    const char *assignment, *ranges, *message;
  } cases[] = {
    { "x\n", NULL, "a.txt: no allocation stands in it" },
    { "allocation 0: size 8, constant:\n value: <0 a @0> (size=8,offset=4): f32[2]\n", NULL, "a.txt:2: the value a{} does not lie in its" },
    { "allocation 0: size 8, constant:\n value: <0 a @0> (size=18446744073709551615,offset=4)\n", NULL, "a.txt:2: " },
    { "allocation 0: size 18446744073709551615:\n", NULL, "a.txt:1: the allocations have more than" },
    { "allocation 0: size 99999999999999999999:\n", NULL, "a.txt:1: expected the number" },
    { " value: <0 a @0> (size=8,offset=4)\n", NULL, "a.txt:1: a value stands before" },
    { "allocation 0: size 8:\n", "  InstructionSequence:\n    1:a\n", "r.txt:2: expected 0: and the instruction" },
    { "allocation 0: size 8:\n", "  InstructionSequence:\n    0:a\n  BufferLiveRange:\n    a{}:2-1\n", "r.txt:4: expected a value" },
    { "allocation 0: size 8:\n", "", "r.txt: no sequence of instructions" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (GantryXlaAssignment) assignment = gantry_xla_assignment_parse (cases[i].assignment, strlen (cases[i].assignment), "a.txt", &error);

      if (cases[i].ranges != NULL)
        g_assert_false (gantry_xla_assignment_read_live_ranges (assignment, cases[i].ranges, strlen (cases[i].ranges), "r.txt", &error));
      else
        g_assert_null (assignment);
      g_assert_nonnull (error);
      if (strstr (error->message, cases[i].message) == NULL)
        g_assert_cmpstr (error->message, ==, cases[i].message);
    }
}

/* The allocations are those that XLA counts itself, as JAX's memory_analysis () prints them. */
static void
check_assignment (const GantryXlaDump *dump, const GantryXlaDumpCompilation *one, const char *printed)
{
  guint64 arguments, temporaries;
  g_autoptr (GError) error = NULL;
  g_autoptr (GMappedFile) text = gantry_xla_dump_map (dump, one->assignment, &error);
  g_autoptr (GMappedFile) live = gantry_xla_dump_map (dump, one->live_ranges, &error);
  g_autoptr (GantryXlaAssignment) assignment = NULL;

  g_assert_no_error (error);
  assignment = gantry_xla_assignment_parse (g_mapped_file_get_contents (text), g_mapped_file_get_length (text), "a.txt", &error);
  g_assert_no_error (error);
  g_assert_true (gantry_xla_assignment_read_live_ranges (assignment, g_mapped_file_get_contents (live), g_mapped_file_get_length (live), "a.txt", &error));
  g_assert_cmpint (sscanf (printed, "%" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT, &arguments, &temporaries), ==, 2);
  g_assert_cmpuint (assignment->bytes[GANTRY_XLA_ALLOCATION_ARGUMENT], ==, arguments);
  g_assert_cmpuint (assignment->bytes[GANTRY_XLA_ALLOCATION_TEMPORARY], ==, temporaries);
  g_assert_cmpuint (assignment->live_bytes[assignment->peak_step], <=, assignment->total_bytes);
}

/* Dumps of JAX itself. */
static void
test_jax (gconstpointer program)
{
  const char *python = g_getenv ("GANTRY_PEER_PYTHON");
  g_autofree char *script = g_build_filename (g_getenv ("GANTRY_SOURCE_ROOT"), "tests", "core", "frontends", "xla", "dump-jax.py", NULL);
  g_autofree char *folder = NULL, *flags = NULL, *printed = NULL;
  g_autoptr (GSubprocessLauncher) launcher = g_subprocess_launcher_new (G_SUBPROCESS_FLAGS_STDOUT_PIPE);
  g_autoptr (GError) error = NULL;
  g_autoptr (GSubprocess) child = NULL;
  g_autoptr (GantryXlaDump) dump = NULL;

  if (python == NULL)
    {
      g_test_skip ("GANTRY_PEER_PYTHON names no Python with JAX");
      return;
    }
  folder = g_dir_make_tmp ("gantry-dump-XXXXXX", NULL);
  flags = g_strdup_printf ("--xla_dump_to=%s %s --xla_dump_hlo_pass_re=.*", folder,
                           strcmp (program, "scan") == 0 ? "--xla_dump_hlo_as_proto" : "--xla_dump_hlo_as_text");
  g_subprocess_launcher_setenv (launcher, "XLA_FLAGS", flags, TRUE);
  g_subprocess_launcher_setenv (launcher, "JAX_PLATFORMS", "cpu", TRUE);
  child = g_subprocess_launcher_spawn (launcher, &error, python, script, program, NULL);
  g_assert_no_error (error);
  g_assert_true (g_subprocess_communicate_utf8 (child, NULL, NULL, &printed, NULL, &error));
  g_assert_true (g_subprocess_get_successful (child));
  dump = gantry_xla_dump_list (folder, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (dump->compilations->len, ==, 1);
  if (strcmp (program, "scan") != 0) /* of protocol buffers there is no assignment as text */
    check_assignment (dump, compilation (dump, 0), printed);
  for (guint i = 0; i < dump->compilations->len; i++)
    g_assert_cmpfloat (share_of (dump, compilation (dump, i)), >=, 0.9);
  remove_folder (folder);
}

int
main (int argc, char **argv)
{
  static const char *const programs[] = { "dense", "scan", "convolution" };

  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/xla/dump/names", test_names);
  g_test_add_func ("/xla/dump/strange", test_strange);
  g_test_add_func ("/xla/dump/fixture", test_fixture);
  g_test_add_func ("/xla/dump/broken", test_broken);
  g_test_add_func ("/xla/dump/match", test_match);
  g_test_add_func ("/xla/dump/assignment", test_assignment);
  g_test_add_func ("/xla/dump/assignment-wrong", test_assignment_wrong);
  for (guint i = 0; i < G_N_ELEMENTS (programs); i++)
    {
      g_autofree char *name = g_strconcat ("/xla/dump/jax/", programs[i], NULL);

      g_test_add_data_func (name, programs[i], test_jax);
    }
  return g_test_run ();
}
