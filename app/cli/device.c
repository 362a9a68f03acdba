/* SPDX-License-Identifier: Apache-2.0 */
/* The devices: what --device names, and gantry-cli devices, which lists those that are there and says what is missing for
 * others. */
#include "app/cli/device.h"
#include "app/cli/cli.h"

GantryDevice *
gantry_cli_device_new (const char *spec, guint n_threads, GError **error)
{
  guint ordinal;
  const GantryDeviceKind *kind = gantry_device_kind_find (spec, &ordinal, error);

  return kind != NULL ? kind->open (ordinal, n_threads, error) : NULL;
}

const GantryGpuModel *
gantry_cli_device_model (const GantryDeviceKind *kind, guint ordinal)
{
  g_autoptr (GantryDeviceProbe) probe = kind->probe != NULL ? kind->probe (NULL) : NULL;
  const GantryDeviceInfo *info = probe != NULL && ordinal < probe->n_devices ? &probe->devices[ordinal] : NULL;

  return info != NULL && info->major > 0 ? gantry_gpu_model_of_device (info->name, (guint) (info->major * 10 + info->minor)) : NULL;
}

const char *
gantry_cli_device_known (const char *device, const char *otherwise)
{
  return device != NULL && *device != '\0' ? device : otherwise;
}

/* What a run has taken. */

static gboolean
measure_memory (GantryDevice *device, GantryCudaMemory *memory)
{
  return device != NULL && gantry_device_is_cuda (device) && gantry_cuda_device_measure_memory (device, memory);
}

void
gantry_cli_device_add_memory (GantryDevice *device, JsonBuilder *json)
{
  GantryCudaMemory memory;
  guint64 asked;

  if (!measure_memory (device, &memory))
    return;
  gantry_device_get_memory (device, GANTRY_MEMORY_DEVICE, NULL, &asked, NULL);
  gantry_cli_add_int (json, "allocated_bytes", (gint64) asked);
  gantry_cli_add_int (json, "driver_bytes", (gint64) memory.peak);
  gantry_cli_add_int (json, "driver_before_bytes", (gint64) memory.before);
  gantry_cli_add_double (json, "clock_error_us", (double) gantry_cuda_device_clock_error (device) / 1e3);
}

void
gantry_cli_device_print_memory (GantryDevice *device)
{
  GantryCudaMemory memory;
  g_autofree char *peak = NULL, *left = NULL, *total = NULL, *before = NULL;

  if (!measure_memory (device, &memory))
    return;
  peak = gantry_cli_bytes (memory.peak);
  left = gantry_cli_bytes (memory.free);
  total = gantry_cli_bytes (memory.total);
  before = gantry_cli_bytes (memory.before);
  gantry_cli_print ("%-10s %s at most taken from the driver by allocating, beside %s that its context and other programs held before; %s of %s "
                    "free now\n",
                    "", peak, before, left, total);
}

/* gantry-cli devices */

typedef struct
{
  gboolean known, failed;
  GantryDeviceRates rates;
} Measured;

/* Measuring takes the device for a moment: only when asked for, and a failure is told like all else. */
static void
measure (const char *spec, Measured *measured)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryDevice) device = gantry_cli_device_new (spec, 0, &error);

  measured->known = device != NULL && gantry_device_measure (device, 0, &measured->rates, NULL, &error);
  measured->failed = !measured->known;
  if (error != NULL)
    gantry_cli_tell ("gantry-cli devices: %s: %s\n", spec, error->message);
}

static void
print_measured (const Measured *measured)
{
  const GantryDeviceRates *rates = &measured->rates;

  if (measured->known)
    gantry_cli_print ("%-10s copies to host %.1f GB/s, to device %.1f GB/s, both at once %.1f GB/s each; an empty kernel %.2f us\n", "", rates->to_host / 1e9,
                      rates->to_device / 1e9, rates->both / 1e9, rates->launch_us);
}

static void
add_measured (JsonBuilder *json, const Measured *measured)
{
  if (!measured->known)
    return;
  gantry_cli_add_double (json, "to_host_bytes_per_second", measured->rates.to_host);
  gantry_cli_add_double (json, "to_device_bytes_per_second", measured->rates.to_device);
  gantry_cli_add_double (json, "both_bytes_per_second", measured->rates.both);
  gantry_cli_add_double (json, "launch_microseconds", measured->rates.launch_us);
}

/* All that is told of a kind. */
typedef struct
{
  const GantryDeviceKind *kind;
  GantryDeviceProbe *probe; /* NULL: why */
  GError *why;
  Measured *measured; /* by device */
} Listing;

static char *
spec_of (const GantryDeviceKind *kind, const GantryDeviceInfo *info)
{
  return kind->is_numbered ? g_strdup_printf ("%s:%d", kind->name, info->ordinal) : g_strdup (kind->name);
}

static void
print_device (const char *spec, const GantryDeviceInfo *info, const Measured *measured)
{
  g_autofree char *bytes = gantry_cli_bytes (info->bytes);

  if (info->major > 0)
    gantry_cli_print ("%-10s %s, compute capability %d.%d, %s, %u processors, %u copy engines, PCI %s\n", spec, info->name, info->major, info->minor, bytes,
                      info->n_processors, info->n_copy_engines, info->pci);
  else
    gantry_cli_print ("%-10s %s\n", spec, info->name);
  if (info->limited != NULL)
    gantry_cli_print ("%-10s %s\n", "", info->limited);
  if (info->unusable != NULL)
    gantry_cli_print ("%-10s %s\n", "", info->unusable);
  print_measured (measured);
}

static void
print_kind (const Listing *listing)
{
  if (listing->probe == NULL)
    gantry_cli_print ("%-10s not usable: %s\n", listing->kind->name, listing->why->message);
  for (guint i = 0; listing->probe != NULL && i < listing->probe->n_devices; i++)
    {
      g_autofree char *spec = spec_of (listing->kind, &listing->probe->devices[i]);

      print_device (spec, &listing->probe->devices[i], &listing->measured[i]);
    }
  if (listing->probe != NULL && listing->probe->driver != NULL)
    gantry_cli_print ("%-10s %s\n", "driver", listing->probe->driver);
}

static void
add_device (JsonBuilder *json, const char *spec, const GantryDeviceInfo *info, const Measured *measured)
{
  g_autofree char *capability = g_strdup_printf ("%d.%d", info->major, info->minor);

  json_builder_begin_object (json);
  gantry_cli_add_string (json, "device", spec);
  gantry_cli_add_string (json, "name", info->name);
  if (info->major > 0)
    {
      gantry_cli_add_string (json, "compute_capability", capability);
      gantry_cli_add_int (json, "memory_bytes", (gint64) info->bytes);
      gantry_cli_add_int (json, "processors", info->n_processors);
      gantry_cli_add_int (json, "copy_engines", info->n_copy_engines);
      gantry_cli_add_string (json, "pci", info->pci);
    }
  gantry_cli_add_boolean (json, "usable", info->unusable == NULL);
  if (info->major > 0)
    gantry_cli_add_string (json, "limited", info->limited);
  add_measured (json, measured);
  json_builder_end_object (json);
}

static void
print_json (const GArray *listings)
{
  g_autoptr (JsonBuilder) json = json_builder_new ();
  g_autoptr (GPtrArray) drivers = g_ptr_array_new (), missing = g_ptr_array_new ();
  g_autofree char *all_drivers = NULL, *all_missing = NULL;

  json_builder_begin_object (json);
  json_builder_set_member_name (json, "devices");
  json_builder_begin_array (json);
  for (guint k = 0; k < listings->len; k++)
    {
      const Listing *listing = &g_array_index (listings, Listing, k);

      for (guint i = 0; listing->probe != NULL && i < listing->probe->n_devices; i++)
        {
          g_autofree char *spec = spec_of (listing->kind, &listing->probe->devices[i]);

          add_device (json, spec, &listing->probe->devices[i], &listing->measured[i]);
        }
      if (listing->probe == NULL)
        g_ptr_array_add (missing, listing->why->message);
      else if (listing->probe->driver != NULL)
        g_ptr_array_add (drivers, listing->probe->driver);
    }
  json_builder_end_array (json);
  g_ptr_array_add (drivers, NULL);
  g_ptr_array_add (missing, NULL);
  all_drivers = g_strjoinv ("; ", (char **) drivers->pdata);
  all_missing = g_strjoinv ("; ", (char **) missing->pdata);
  gantry_cli_add_string (json, "driver", drivers->len > 1 ? all_drivers : NULL);
  gantry_cli_add_string (json, "missing", missing->len > 1 ? all_missing : NULL);
  json_builder_end_object (json);
  gantry_cli_print_json (json);
}

static void
clear_listing (gpointer data)
{
  Listing *listing = data;

  gantry_device_probe_free (listing->probe);
  g_clear_error (&listing->why);
  g_free (listing->measured);
}

/* Returns: FALSE where measuring a device has failed */
static gboolean
look (GArray *listings, gboolean measured)
{
  guint n_kinds;
  const GantryDeviceKind *const *kinds = gantry_device_kinds (&n_kinds);
  gboolean done = TRUE;

  for (guint k = 0; k < n_kinds; k++)
    {
      Listing listing = { .kind = kinds[k] };
      guint n;

      if (kinds[k]->probe == NULL)
        continue;
      listing.probe = kinds[k]->probe (&listing.why);
      n = listing.probe != NULL ? listing.probe->n_devices : 0;
      listing.measured = g_new0 (Measured, n + 1);
      for (guint i = 0; measured && i < n; i++)
        {
          g_autofree char *spec = spec_of (kinds[k], &listing.probe->devices[i]);

          measure (spec, &listing.measured[i]);
          done = done && !listing.measured[i].failed;
        }
      g_array_append_val (listings, listing);
    }
  return done;
}

int
gantry_cli_devices (int argc, char **argv)
{
  g_auto (GantryCliOptions) options = GANTRY_CLI_OPTIONS_INIT;
  gboolean measured = FALSE, done;
  const GOptionEntry own[] = {
    { "measure", 'm', 0, G_OPTION_ARG_NONE, &measured, "Measure copies and launches, which takes each device for a moment", NULL },
    { NULL },
  };
  g_autoptr (GArray) listings = g_array_new (FALSE, FALSE, sizeof (Listing));

  if (!gantry_cli_parse ("devices", "", "Lists what programs can run on, and says what is missing for others.", &options, own, &argc, &argv))
    return GANTRY_EXIT_ERROR;
  if (argc != 1)
    {
      gantry_cli_tell ("gantry-cli devices: takes no arguments\n");
      return GANTRY_EXIT_ERROR;
    }
  g_array_set_clear_func (listings, clear_listing);
  done = look (listings, measured);
  if (options.json)
    print_json (listings);
  else
    for (guint k = 0; k < listings->len; k++)
      print_kind (&g_array_index (listings, Listing, k));
  return done ? GANTRY_EXIT_DONE : GANTRY_EXIT_ERROR;
}
