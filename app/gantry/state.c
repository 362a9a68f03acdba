/* SPDX-License-Identifier: Apache-2.0 */
/* The key file. It is read for each question and written for each change: both are rare, and then two windows or two
 * processes never overwrite what the other has just said. A file that cannot be read or written costs the memory only. */
#include "app/gantry/state.h"

#define GROUP "window"
#define MOST_RECENT 10
#define MOST_TRUSTED 100

static char *
file_name (void)
{
  return g_build_filename (g_get_user_config_dir (), "gantry", "window.ini", NULL);
}

static GKeyFile *
load (void)
{
  GKeyFile *file = g_key_file_new ();
  g_autofree char *name = file_name ();

  g_key_file_load_from_file (file, name, G_KEY_FILE_NONE, NULL);
  return file;
}

static void
store (GKeyFile *file)
{
  g_autofree char *name = file_name (), *folder = g_path_get_dirname (name);
  g_autoptr (GError) error = NULL;

  g_mkdir_with_parents (folder, 0700);
  if (!g_key_file_save_to_file (file, name, &error))
    g_debug ("the window's state is not kept: %s", error->message);
}

char *
gantry_state_get_string (const char *key)
{
  g_autoptr (GKeyFile) file = load ();

  return g_key_file_get_string (file, GROUP, key, NULL);
}

void
gantry_state_set_string (const char *key, const char *value)
{
  g_autoptr (GKeyFile) file = load ();

  g_key_file_set_string (file, GROUP, key, value);
  store (file);
}

int
gantry_state_get_int (const char *key, int fallback)
{
  g_autoptr (GKeyFile) file = load ();
  g_autoptr (GError) error = NULL;
  int value = g_key_file_get_integer (file, GROUP, key, &error);

  return error == NULL ? value : fallback;
}

void
gantry_state_set_int (const char *key, int value)
{
  g_autoptr (GKeyFile) file = load ();

  g_key_file_set_integer (file, GROUP, key, value);
  store (file);
}

static char **
get_list (const char *key)
{
  g_autoptr (GKeyFile) file = load ();
  char **list = g_key_file_get_string_list (file, GROUP, key, NULL, NULL);

  return list != NULL ? list : g_new0 (char *, 1);
}

/* Puts @item first; those behind the @most newest fall out. */
static void
add_to_list (const char *key, const char *item, guint most)
{
  g_autoptr (GKeyFile) file = load ();
  g_auto (GStrv) old = get_list (key);
  g_autoptr (GPtrArray) list = g_ptr_array_new ();

  g_ptr_array_add (list, (gpointer) item);
  for (guint i = 0; old[i] != NULL && list->len < most; i++)
    if (g_strcmp0 (old[i], item) != 0)
      g_ptr_array_add (list, old[i]);
  g_key_file_set_string_list (file, GROUP, key, (const char *const *) list->pdata, list->len);
  store (file);
}

char **
gantry_state_get_trusted (void)
{
  return get_list ("trusted");
}

void
gantry_state_add_trusted (const char *mark)
{
  add_to_list ("trusted", mark, MOST_TRUSTED);
}

char **
gantry_state_get_recent (void)
{
  return get_list ("recent");
}

void
gantry_state_add_recent (const char *path)
{
  add_to_list ("recent", path, MOST_RECENT);
}
