/* SPDX-License-Identifier: Apache-2.0 */
/* The kinds of devices, and what a user calls them. */
#include "core/runtime/device-kind.h"
#include "core/base/error.h"
#include <string.h>

#define ROW(folder, name) &gantry_device_kind_##name,
static const GantryDeviceKind *const kinds[] = { GANTRY_DEVICE_KIND_LIST (ROW) };

const GantryDeviceKind *const *
gantry_device_kinds (guint *n)
{
  *n = G_N_ELEMENTS (kinds);
  return kinds;
}

void
gantry_device_probe_free (GantryDeviceProbe *probe)
{
  if (probe == NULL)
    return;
  for (guint i = 0; i < probe->n_devices; i++)
    {
      g_free (probe->devices[i].name);
      g_free (probe->devices[i].pci);
    }
  g_free (probe->devices);
  g_free (probe->driver);
  g_free (probe);
}

/* "cuda" or, where they are numbered, "cuda:3". */
static gboolean
is_of (const GantryDeviceKind *kind, const char *spec, guint *ordinal)
{
  gsize length = strlen (kind->name);
  guint64 number = 0;

  if (!g_str_has_prefix (spec, kind->name))
    return FALSE;
  if (spec[length] != '\0' && (!kind->is_numbered || spec[length] != ':' || !g_ascii_string_to_unsigned (spec + length + 1, 10, 0, 9999, &number, NULL)))
    return FALSE;
  *ordinal = (guint) number;
  return TRUE;
}

const GantryDeviceKind *
gantry_device_kind_find (const char *spec, guint *ordinal, GError **error)
{
  g_autoptr (GString) takes = g_string_new (NULL);

  *ordinal = 0;
  if (spec == NULL)
    return kinds[0];
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    {
      if (is_of (kinds[i], spec, ordinal))
        return kinds[i];
      g_string_append_printf (takes, "%s%s", i > 0 ? ", " : "", kinds[i]->takes);
    }
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "--device %s: takes %s; gantry-cli devices lists them", spec, takes->str);
  return NULL;
}
