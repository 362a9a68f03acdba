/* SPDX-License-Identifier: Apache-2.0 */
/* What lies in a folder of XLA's dumps, and reading the modules of one compilation. */
#include "core/frontends/xla/dump.h"
#include "core/base/file.h"
#include <errno.h>
#include <gio/gio.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MOST_ENTRIES 100000u
#define MOST_MODULES 4096u
#define MOST_BYTES (G_GUINT64_CONSTANT (4) << 30)
#define AFTER "after_optimizations"
#define BEFORE ".before_optimizations"

static void
module_free (gpointer data)
{
  GantryXlaDumpModule *module = data;

  g_free (module->file);
  g_free (module->pipeline);
  g_free (module->pass);
  g_free (module);
}

static void
compilation_free (gpointer data)
{
  GantryXlaDumpCompilation *compilation = data;

  g_free (compilation->name);
  g_free (compilation->key);
  g_ptr_array_unref (compilation->modules);
  g_free (compilation->assignment);
  g_free (compilation->live_ranges);
  g_free (compilation);
}

void
gantry_xla_dump_free (GantryXlaDump *dump)
{
  if (dump == NULL)
    return;
  g_free (dump->folder);
  g_ptr_array_unref (dump->compilations);
  g_ptr_array_unref (dump->files);
  g_ptr_array_unref (dump->problems);
  g_free (dump);
}

/* Names */

typedef enum
{
  NOTHING,
  MODULE,
  ASSIGNMENT,
  LIVE_RANGES
} Kind;

typedef struct
{
  Kind kind;
  gsize key;  /* length: "module_0005.jit_step" */
  gsize name; /* where the name begins in the key; the key's length where it has none */
  guint number, step;
  gsize pipeline, pipeline_end, pass, pass_end;
} Name;

/* "module_0005", a time before it. Returns: where that ends, 0: it is no such name */
static gsize
read_number (const char *file, guint *number)
{
  gsize at = strspn (file, "0123456789"), digits;

  at = at > 0 && file[at] == '.' ? at + 1 : 0;
  if (strncmp (file + at, "module_", strlen ("module_")) != 0)
    return 0;
  at += strlen ("module_");
  digits = strspn (file + at, "0123456789");
  *number = (guint) MIN (g_ascii_strtoull (file + at, NULL, 10), G_MAXUINT);
  return digits > 0 && (file[at + digits] == '.' || file[at + digits] == '\0') ? at + digits : 0;
}

/* "cpu_after_optimizations", "sm_8.0_gpu_after_optimizations-buffer-assignment" */
static Kind
read_last (const char *stem, gsize number_end, Name *name)
{
  const char *found = g_strrstr (stem, AFTER), *tail, *dot;

  if (found == NULL || found < stem + number_end)
    return NOTHING;
  for (dot = found; dot > stem + number_end && *dot != '.'; dot--)
    ;
  if (*dot != '.')
    return NOTHING;
  if (g_ascii_isdigit (dot[1])) /* the point in "sm_8.0" */
    {
      const char *before = dot;

      do
        before--;
      while (before > stem + number_end && *before != '.');
      if (*before == '.' && strncmp (before + 1, "sm_", 3) == 0)
        dot = before;
    }
  name->key = (gsize) (dot - stem);
  name->step = G_MAXUINT;
  name->pass = (gsize) (found - stem);
  name->pass_end = name->pass + strlen (AFTER);
  tail = found + strlen (AFTER);
  return *tail == '\0' ? MODULE : strcmp (tail, "-buffer-assignment") == 0 ? ASSIGNMENT : strcmp (tail, "-live-range") == 0 ? LIVE_RANGES : NOTHING;
}

/* ".0001.PIPELINE.after_PASS.before_PASS" */
static Kind
read_between (const char *stem, gsize number_end, Name *name)
{
  for (const char *dot = strchr (stem + number_end, '.'); dot != NULL; dot = strchr (dot + 1, '.'))
    {
      gsize digits = strspn (dot + 1, "0123456789");
      const char *rest = dot + 1 + digits, *after = digits >= 4 && *rest == '.' ? strstr (rest + 1, ".after_") : NULL, *before;

      if (after == NULL)
        continue;
      before = g_strrstr (after, ".before_");
      name->key = (gsize) (dot - stem);
      name->step = (guint) MIN (g_ascii_strtoull (dot + 1, NULL, 10) + 1, G_MAXUINT - 1);
      name->pipeline = (gsize) (rest + 1 - stem);
      name->pipeline_end = (gsize) (after - stem);
      name->pass = name->pipeline_end + strlen (".after_");
      name->pass_end = before != NULL ? (gsize) (before - stem) : strlen (stem);
      return MODULE;
    }
  return NOTHING;
}

static gboolean
is_plain (const char *file)
{
  for (const char *c = file; *c != '\0'; c++)
    if (*c <= ' ' || *c > '~' || *c == '/')
      return FALSE;
  return TRUE;
}

static gboolean
is_buffer (const char *file)
{
  return g_str_has_suffix (file, ".hlo.pb");
}

/* Without its ending: (transfer full) (nullable) */
static char *
stem_of (const char *file)
{
  static const char *const endings[] = { ".txt", ".hlo.pb" };

  for (guint i = 0; i < G_N_ELEMENTS (endings); i++)
    if (g_str_has_suffix (file, endings[i]))
      return g_strndup (file, strlen (file) - strlen (endings[i]));
  return NULL;
}

static void
read_name (const char *file, Name *name)
{
  g_autofree char *stem = NULL;
  gsize end;

  *name = (Name){ NOTHING };
  stem = is_plain (file) ? stem_of (file) : NULL;
  end = stem != NULL ? read_number (stem, &name->number) : 0;
  if (end == 0)
    return;
  if (g_str_has_suffix (stem, BEFORE))
    {
      name->key = strlen (stem) - strlen (BEFORE);
      name->pass = name->key + 1;
      name->pass_end = strlen (stem);
      name->kind = name->key >= end ? MODULE : NOTHING;
    }
  else
    {
      name->kind = read_between (stem, end, name);
      if (name->kind == NOTHING)
        name->kind = read_last (stem, end, name);
    }
  name->name = MIN (end + 1, name->key);
}

/* The folder */

static GantryXlaDumpCompilation *
compilation_of (GantryXlaDump *dump, GHashTable *by_key, const char *file, const Name *name)
{
  g_autofree char *key = g_strndup (file, name->key);
  GantryXlaDumpCompilation *compilation = g_hash_table_lookup (by_key, key);

  if (compilation != NULL)
    return compilation;
  compilation = g_new0 (GantryXlaDumpCompilation, 1);
  compilation->name = g_strdup (name->name < name->key ? key + name->name : key);
  compilation->number = name->number;
  compilation->key = g_steal_pointer (&key);
  compilation->modules = g_ptr_array_new_with_free_func (module_free);
  g_ptr_array_add (dump->compilations, compilation);
  g_hash_table_insert (by_key, compilation->key, compilation);
  return compilation;
}

static void
add_module (GantryXlaDumpCompilation *compilation, const char *file, const Name *name, guint64 bytes)
{
  GantryXlaDumpModule *module = g_new0 (GantryXlaDumpModule, 1);

  module->file = g_strdup (file);
  module->step = name->step;
  module->bytes = bytes;
  module->pass = g_strndup (file + name->pass, name->pass_end - name->pass);
  if (name->pipeline_end > 0)
    module->pipeline = g_strndup (file + name->pipeline, name->pipeline_end - name->pipeline);
  g_ptr_array_add (compilation->modules, module);
}

static const char *
kind_of (mode_t mode)
{
  return S_ISDIR (mode) ? "a folder" : S_ISFIFO (mode) ? "a pipe" : S_ISSOCK (mode) ? "a socket" : "a device";
}

static void
add_file (GantryXlaDump *dump, GHashTable *by_key, const char *file)
{
  g_autofree char *path = g_build_filename (dump->folder, file, NULL);
  GantryXlaDumpCompilation *compilation;
  GStatBuf info;
  Name name;

  read_name (file, &name);
  if (name.kind == NOTHING || g_lstat (path, &info) != 0)
    return;
  dump->n_links += S_ISLNK (info.st_mode);
  if (!S_ISREG (info.st_mode) && !S_ISLNK (info.st_mode))
    g_ptr_array_add (dump->problems, g_strdup_printf ("%s: is %s, not a file, and left out", file, kind_of (info.st_mode)));
  if (!S_ISREG (info.st_mode))
    return;
  compilation = compilation_of (dump, by_key, file, &name);
  if (name.kind == MODULE)
    add_module (compilation, file, &name, (guint64) info.st_size);
  else if (name.kind == ASSIGNMENT && compilation->assignment == NULL)
    compilation->assignment = g_strdup (file);
  else if (name.kind == LIVE_RANGES && compilation->live_ranges == NULL)
    compilation->live_ranges = g_strdup (file);
}

static int
compare_modules (gconstpointer a, gconstpointer b)
{
  const GantryXlaDumpModule *x = *(GantryXlaDumpModule *const *) a, *y = *(GantryXlaDumpModule *const *) b;

  if (x->step != y->step)
    return x->step < y->step ? -1 : 1;
  return is_buffer (x->file) != is_buffer (y->file) ? is_buffer (x->file) - is_buffer (y->file) : strcmp (x->file, y->file);
}

/* Of a module that lies there as a text and as a protocol buffer the text is read. */
static void
drop_doubles (GPtrArray *modules)
{
  for (guint i = modules->len; i > 1; i--)
    {
      const GantryXlaDumpModule *x = g_ptr_array_index (modules, i - 2), *y = g_ptr_array_index (modules, i - 1);

      if (x->step == y->step && is_buffer (y->file) && !is_buffer (x->file))
        g_ptr_array_remove_index (modules, i - 1);
    }
}

static int
compare_compilations (gconstpointer a, gconstpointer b)
{
  const GantryXlaDumpCompilation *x = *(GantryXlaDumpCompilation *const *) a, *y = *(GantryXlaDumpCompilation *const *) b;

  return x->number != y->number ? (x->number < y->number ? -1 : 1) : strcmp (x->key, y->key);
}

/* The modules in order, each under a name of its own: those without a module are left out, and of one that lies there twice, as text and
 * as protobuf, one is. */
static void
put_in_order (GantryXlaDump *dump)
{
  g_autoptr (GHashTable) count = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  for (guint i = dump->compilations->len; i > 0; i--)
    if (((GantryXlaDumpCompilation *) g_ptr_array_index (dump->compilations, i - 1))->modules->len == 0)
      g_ptr_array_remove_index_fast (dump->compilations, i - 1);
  g_ptr_array_sort (dump->compilations, compare_compilations);
  for (guint i = 0; i < dump->compilations->len; i++)
    {
      GantryXlaDumpCompilation *compilation = g_ptr_array_index (dump->compilations, i);
      guint n = GPOINTER_TO_UINT (g_hash_table_lookup (count, compilation->name)) + 1;

      g_ptr_array_sort (compilation->modules, compare_modules);
      drop_doubles (compilation->modules);
      g_hash_table_insert (count, g_strdup (compilation->name), GUINT_TO_POINTER (n));
      if (n > 1)
        {
          char *name = g_strdup_printf ("%s#%u", compilation->name, n);

          g_free (compilation->name);
          compilation->name = name;
        }
    }
}

GantryXlaDump *
gantry_xla_dump_list (const char *folder, GError **error)
{
  g_autoptr (GDir) entries = g_dir_open (folder, 0, error);
  g_autoptr (GHashTable) by_key = g_hash_table_new (g_str_hash, g_str_equal);
  g_autoptr (GantryXlaDump) dump = NULL;
  const char *file;
  guint n = 0, number;

  if (entries == NULL)
    return NULL;
  dump = g_new0 (GantryXlaDump, 1);
  dump->folder = g_strdup (folder);
  dump->compilations = g_ptr_array_new_with_free_func (compilation_free);
  dump->files = g_ptr_array_new_with_free_func (g_free);
  dump->problems = g_ptr_array_new_with_free_func (g_free);
  while ((file = g_dir_read_name (entries)) != NULL)
    {
      if (++n > MOST_ENTRIES)
        {
          g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_TOO_LARGE,
                       "%s: has more than %u entries; a dump to be opened has a folder of its "
                       "own",
                       folder, MOST_ENTRIES);
          return NULL;
        }
      if (read_number (file, &number) > 0)
        g_ptr_array_add (dump->files, g_strdup (file));
      add_file (dump, by_key, file);
    }
  put_in_order (dump);
  if (dump->compilations->len > 0)
    return g_steal_pointer (&dump);
  if (dump->n_links > 0)
    g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID,
                 "%s: %u files of a dump are symbolic links, which are not followed; open the "
                 "folder that they lie in",
                 folder, dump->n_links);
  else if (dump->problems->len > 0)
    g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "%s: no module of XLA's dumps can be read in it; %s", folder,
                 (const char *) g_ptr_array_index (dump->problems, 0));
  else
    g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID,
                 "%s: is a folder, and no module_* of XLA's dumps lies in it; write one by "
                 "XLA_FLAGS=\"--xla_dump_to=FOLDER --xla_dump_hlo_as_text --xla_dump_hlo_pass_re=.*\", or name a file",
                 folder);
  return NULL;
}

/* Reading */

GMappedFile *
gantry_xla_dump_map (const GantryXlaDump *dump, const char *file, GError **error)
{
  g_autofree char *path = g_build_filename (dump->folder, file, NULL);
  GStatBuf info;

  if (g_lstat (path, &info) == 0 && S_ISLNK (info.st_mode))
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "%s: has become a symbolic link, which is not followed", path);
      return NULL;
    }
  return gantry_file_map (path, error);
}

static gboolean
check_size (const GantryXlaDump *dump, const GantryXlaDumpCompilation *compilation, GError **error)
{
  guint64 bytes = 0;

  for (guint i = 0; i < compilation->modules->len; i++)
    bytes += ((GantryXlaDumpModule *) g_ptr_array_index (compilation->modules, i))->bytes;
  if (compilation->modules->len <= MOST_MODULES && bytes <= MOST_BYTES)
    return TRUE;
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_TOO_LARGE,
               "%s: %s has %u modules of %" G_GUINT64_FORMAT " MiB together; at most %u of "
               "4096 MiB are opened: dump fewer passes (--xla_dump_hlo_pass_re)",
               dump->folder, compilation->name, compilation->modules->len, bytes >> 20, MOST_MODULES);
  return FALSE;
}

/* @before: (nullable) */
static GantryModule *
read_module (const GantryXlaDump *dump, const GantryXlaDumpModule *file, GantryModule *before, GantryContext *context, GantryXlaInfo **info,
             const GantryProgress *progress, GError **error)
{
  g_autofree char *path = g_build_filename (dump->folder, file->file, NULL);
  g_autoptr (GMappedFile) text = gantry_xla_dump_map (dump, file->file, error);
  GantryXlaOptions options = { .module = -1, .like = before };
  guint32 last_id = gantry_context_last_node_id (context);
  GantryXlaMatch match;
  GantryModule *module;

  if (text == NULL)
    return NULL;
  g_clear_pointer (info, gantry_xla_info_free);
  module = gantry_xla_import_text (context, g_mapped_file_get_contents (text), g_mapped_file_get_length (text), path, &options, info, progress, error);
  if (module == NULL || before == NULL)
    return module;
  return gantry_xla_match (before, module, last_id, &match, error);
}

static void
free_module (gpointer module)
{
  if (module != NULL)
    gantry_module_unref (module);
}

/* Each file that is broken is told and left out: the others are a dump still. FALSE when cancelled. */
static gboolean
read_modules (GantryXlaDump *dump, const GantryXlaDumpCompilation *compilation, GantryContext *context, GPtrArray *modules, GantryXlaInfo **info,
              const GantryProgress *progress, GError **error)
{
  GantryModule *before = NULL;
  g_autoptr (GError) failure = NULL;

  for (guint i = 0; i < compilation->modules->len; i++)
    {
      const GantryXlaDumpModule *file = g_ptr_array_index (compilation->modules, i);
      g_autoptr (GantryXlaInfo) own = NULL;
      g_autoptr (GError) problem = NULL;
      GantryModule *module;

      gantry_progress_report (progress, (double) i / compilation->modules->len, file->pass);
      module = gantry_progress_cancelled (progress, &problem) ? NULL : read_module (dump, file, before, context, &own, progress, &problem);
      g_ptr_array_add (modules, module);
      if (module != NULL)
        {
          g_clear_pointer (info, gantry_xla_info_free);
          *info = g_steal_pointer (&own);
          before = module;
          continue;
        }
      if (g_error_matches (problem, G_IO_ERROR, G_IO_ERROR_CANCELLED))
        {
          g_propagate_error (error, g_steal_pointer (&problem));
          return FALSE;
        }
      g_ptr_array_add (dump->problems, g_strdup_printf ("left out: %s", problem->message));
      if (failure == NULL)
        failure = g_steal_pointer (&problem);
    }
  if (before == NULL && failure != NULL)
    g_propagate_error (error, g_steal_pointer (&failure));
  return before != NULL;
}

GPtrArray *
gantry_xla_dump_read (GantryXlaDump *dump, const GantryXlaDumpCompilation *compilation, GantryContext *context, GantryXlaInfo **info,
                      const GantryProgress *progress, GError **error)
{
  g_autoptr (GPtrArray) modules = g_ptr_array_new_with_free_func (free_module);

  *info = NULL;
  if (check_size (dump, compilation, error) && read_modules (dump, compilation, context, modules, info, progress, error))
    return g_steal_pointer (&modules);
  g_clear_pointer (info, gantry_xla_info_free);
  return NULL;
}
