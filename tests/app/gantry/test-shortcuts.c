/* SPDX-License-Identifier: Apache-2.0 */
/* The table of shortcuts: keys that can be parsed, no key twice, actions that exist, and the window made of it. */
#include "app/gantry/application.h"
#include "app/gantry/shortcuts.h"
#include "app/gantry/window.h"
#include "tests/views/views-test.h"

static void
test_table (void)
{
  g_autoptr (GHashTable) seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  guint n;
  const GantryShortcut *table = gantry_shortcuts_table (&n);

  if (!views_have_display ())
    return;
  for (guint i = 0; i < n; i++)
    {
      g_auto (GStrv) keys = g_strsplit (table[i].accelerators, " ", -1);

      g_assert_cmpstr (table[i].title, !=, "");
      for (guint k = 0; keys[k] != NULL; k++)
        {
          guint key;
          GdkModifierType modifiers;

          g_assert_true (gtk_accelerator_parse (keys[k], &key, &modifiers));
          g_assert_cmpuint (key, !=, 0);
          /* What a view handles counts only where the view has the focus. */
          if (table[i].action != NULL)
            g_assert_true (g_hash_table_add (seen, gtk_accelerator_name (key, modifiers)));
        }
    }
}

/* No key is shown twice for one thing: that of the number pad is written as the other is. */
static void
check_shown (GtkWidget *widget)
{
  g_autofree char *keys = NULL;
  g_autoptr (GHashTable) seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_auto (GStrv) list = NULL;

  for (GtkWidget *child = gtk_widget_get_first_child (widget); child != NULL; child = gtk_widget_get_next_sibling (child))
    check_shown (child);
  if (!GTK_IS_SHORTCUTS_SHORTCUT (widget))
    return;
  g_object_get (widget, "accelerator", &keys, NULL);
  list = g_strsplit (keys != NULL ? keys : "", " ", -1);
  for (guint i = 0; list[i] != NULL; i++)
    {
      guint key;
      GdkModifierType modifiers;

      g_assert_true (gtk_accelerator_parse (list[i], &key, &modifiers));
      g_assert_true (g_hash_table_add (seen, g_strdup_printf ("%x %x", modifiers, gdk_keyval_to_unicode (key) != 0 ? gdk_keyval_to_unicode (key) : key)));
    }
}

static void
test_actions (void)
{
  g_autoptr (GantryApplication) application = NULL;
  g_autoptr (GError) error = NULL;
  GtkWidget *window, *list;
  guint n;
  const GantryShortcut *table = gantry_shortcuts_table (&n);

  if (!views_have_display ())
    return;
  application = gantry_application_new (G_APPLICATION_NON_UNIQUE);
  g_application_register (G_APPLICATION (application), NULL, &error);
  g_assert_no_error (error);
  window = gantry_window_new (GTK_APPLICATION (application));
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *name = NULL;
      g_autoptr (GVariant) target = NULL;

      if (table[i].action == NULL)
        continue;
      g_action_parse_detailed_name (table[i].action, &name, &target, &error);
      g_assert_no_error (error);
      if (g_str_has_prefix (name, "win."))
        {
          const GVariantType *type = NULL;

          g_assert_true (g_action_group_query_action (G_ACTION_GROUP (window), name + 4, NULL, &type, NULL, NULL, NULL));
          g_assert_true (target == NULL ? type == NULL : g_variant_is_of_type (target, type));
        }
      else if (g_str_has_prefix (name, "app."))
        g_assert_true (g_action_group_has_action (G_ACTION_GROUP (application), name + 4));
      else
        g_assert_cmpstr (name, ==, "window.close");
    }
  list = gantry_shortcuts_window_new ();
  g_assert_true (GTK_IS_SHORTCUTS_WINDOW (list));
  check_shown (list);
  gtk_window_destroy (GTK_WINDOW (list));
  g_object_unref (list);
  gtk_window_destroy (GTK_WINDOW (window));
  views_settle ();
}

int
main (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *folder = g_dir_make_tmp ("gantry-shortcuts-XXXXXX", &error);

  g_assert_no_error (error);
  g_setenv ("XDG_CONFIG_HOME", folder, TRUE);
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/app/shortcuts/table", test_table);
  g_test_add_func ("/app/shortcuts/actions", test_actions);
  return g_test_run ();
}
