/* SPDX-License-Identifier: Apache-2.0 */
/* The devices: what --device names, and gantry-cli devices, which lists those that are there and says what is missing for
 * others. */
#include "app/cli/device.h"
#include "app/cli/cli.h"
#include "core/base/error.h"
#include <string.h>

/* @ordinal: (out): -1: not a GPU */
static gboolean
parse_spec (const char *spec, int *ordinal, GError **error)
{
  guint64 number = 0;

  *ordinal = -1;
  if (spec == NULL || strcmp (spec, "cpu") == 0 || strcmp (spec, "grid") == 0)
    return TRUE;
  *ordinal = 0;
  if (strcmp (spec, "cuda") == 0)
    return TRUE;
  if (g_str_has_prefix (spec, "cuda:") && g_ascii_string_to_unsigned (spec + 5, 10, 0, 9999, &number, NULL))
    {
      *ordinal = (int) number;
      return TRUE;
    }
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID,
               "--device %s: takes cpu, grid (what is made for a GPU, run on the processor), cuda, or cuda:N for the GPU N; "
               "gantry-cli devices lists them", spec);
  return FALSE;
}

GantryDevice *
gantry_cli_device_new (const char *spec, guint n_threads, GError **error)
{
  int ordinal;

  if (!parse_spec (spec, &ordinal, error))
    return NULL;
  return ordinal < 0 ? gantry_cpu_device_new (n_threads) : gantry_cuda_device_new (ordinal, error);
}

gboolean
gantry_cli_device_check (const char *spec, GError **error)
{
  int ordinal;

  return parse_spec (spec, &ordinal, error);
}

/* Code for a GPU runs on those of the same generation that came later. */
const char *
gantry_cli_device_arch (const GantryDevice *device)
{
  guint capability = gantry_device_is_cuda (device) ? gantry_cuda_device_capability (device) : 0;

  if (capability == 0)
    return NULL;
  if (capability >= 100 && capability < 110)
    return "sm_100";
  if (capability >= 100)
    return "sm_90"; /* as text: the driver translates it */
  return capability >= 90 ? "sm_90a" : "sm_80";
}

const GantryGpuModel *
gantry_cli_device_model (const char *spec)
{
  g_autoptr (GantryCudaProbe) probe = NULL;
  int ordinal;

  if (!parse_spec (spec, &ordinal, NULL) || ordinal < 0)
    return NULL;
  probe = gantry_cuda_probe (NULL);
  if (probe == NULL || ordinal >= (int) probe->n_devices)
    return NULL;
  return gantry_gpu_model_of_device (probe->devices[ordinal].name,
                                     (guint) (probe->devices[ordinal].major * 10 + probe->devices[ordinal].minor));
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
  gantry_cli_add_double (json, "clock_error_us", (double) gantry_cuda_device_clock_error (device) / 1e3);
}

void
gantry_cli_device_print_memory (GantryDevice *device)
{
  GantryCudaMemory memory;
  g_autofree char *peak = NULL, *left = NULL, *total = NULL;

  if (!measure_memory (device, &memory))
    return;
  peak = gantry_cli_bytes (memory.peak);
  left = gantry_cli_bytes (memory.free);
  total = gantry_cli_bytes (memory.total);
  gantry_cli_print ("%-10s %s at most taken from the driver; %s of %s free now\n", "", peak, left, total);
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
    gantry_cli_print ("%-10s copies to host %.1f GB/s, to device %.1f GB/s, both at once %.1f GB/s each; an empty kernel %.2f us\n",
                      "",
                      rates->to_host / 1e9, rates->to_device / 1e9, rates->both / 1e9, rates->launch_us);
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

static void
print_gpu (const GantryCudaInfo *info, const Measured *measured)
{
  g_autofree char *bytes = gantry_cli_bytes (info->bytes), *spec = g_strdup_printf ("cuda:%d", info->ordinal);

  gantry_cli_print ("%-10s %s, compute capability %d.%d, %s, %u processors, %u copy engines, PCI %s\n", spec,
                    info->name, info->major,
                    info->minor, bytes, info->n_processors, info->n_copy_engines, info->pci);
  if (info->limited != NULL)
    gantry_cli_print ("%-10s %s\n", "", info->limited);
  if (info->major < 8)
    gantry_cli_print ("%-10s too old: 8.0 (Ampere) or newer is needed\n", "");
  print_measured (measured);
}

static void
add_gpu (JsonBuilder *json, const GantryCudaInfo *info, const Measured *measured)
{
  g_autofree char *spec = g_strdup_printf ("cuda:%d", info->ordinal),
                  *capability = g_strdup_printf ("%d.%d", info->major, info->minor);

  json_builder_begin_object (json);
  gantry_cli_add_string (json, "device", spec);
  gantry_cli_add_string (json, "name", info->name);
  gantry_cli_add_string (json, "compute_capability", capability);
  gantry_cli_add_int (json, "memory_bytes", (gint64) info->bytes);
  gantry_cli_add_int (json, "processors", info->n_processors);
  gantry_cli_add_int (json, "copy_engines", info->n_copy_engines);
  gantry_cli_add_string (json, "pci", info->pci);
  gantry_cli_add_boolean (json, "usable", info->major >= 8);
  gantry_cli_add_string (json, "limited", info->limited);
  add_measured (json, measured);
  json_builder_end_object (json);
}

/* All that is told. */
typedef struct
{
  GantryCudaProbe *probe; /* NULL: why */
  GError *why;
  char *cpu;
  Measured cpu_measured, *measured; /* by GPU */
} Listing;

static void
print_text (const Listing *listing)
{
  gantry_cli_print ("%-10s %s\n", "cpu", listing->cpu);
  print_measured (&listing->cpu_measured);
  if (listing->probe == NULL)
    {
      gantry_cli_print ("%-10s not usable: %s\n", "cuda", listing->why->message);
      return;
    }
  for (guint i = 0; i < listing->probe->n_devices; i++)
    print_gpu (&listing->probe->devices[i], &listing->measured[i]);
  gantry_cli_print ("%-10s %s\n", "driver", listing->probe->driver);
}

static void
print_json (const Listing *listing)
{
  g_autoptr (JsonBuilder) json = json_builder_new ();

  json_builder_begin_object (json);
  json_builder_set_member_name (json, "devices");
  json_builder_begin_array (json);
  json_builder_begin_object (json);
  gantry_cli_add_string (json, "device", "cpu");
  gantry_cli_add_string (json, "name", listing->cpu);
  gantry_cli_add_boolean (json, "usable", TRUE);
  add_measured (json, &listing->cpu_measured);
  json_builder_end_object (json);
  for (guint i = 0; listing->probe != NULL && i < listing->probe->n_devices; i++)
    add_gpu (json, &listing->probe->devices[i], &listing->measured[i]);
  json_builder_end_array (json);
  gantry_cli_add_string (json, "driver", listing->probe != NULL ? listing->probe->driver : NULL);
  gantry_cli_add_string (json, "missing", listing->why != NULL ? listing->why->message : NULL);
  json_builder_end_object (json);
  gantry_cli_print_json (json);
}

static void
look (Listing *listing, gboolean measured)
{
  g_autoptr (GantryDevice) cpu = gantry_cpu_device_new (0);

  listing->cpu = g_strdup (gantry_device_name (cpu));
  listing->probe = gantry_cuda_probe (&listing->why);
  listing->measured = g_new0 (Measured, (listing->probe != NULL ? listing->probe->n_devices : 0) + 1);
  if (!measured)
    return;
  measure ("cpu", &listing->cpu_measured);
  for (guint i = 0; listing->probe != NULL && i < listing->probe->n_devices; i++)
    {
      g_autofree char *spec = g_strdup_printf ("cuda:%d", listing->probe->devices[i].ordinal);

      measure (spec, &listing->measured[i]);
    }
}

int
gantry_cli_devices (int argc, char **argv)
{
  g_auto (GantryCliOptions) options = GANTRY_CLI_OPTIONS_INIT;
  gboolean measured = FALSE, failed;
  const GOptionEntry own[] = {
    { "measure", 'm', 0, G_OPTION_ARG_NONE, &measured, "Measure copies and launches, which takes each device for a moment", NULL },
    { NULL },
  };
  Listing listing = { NULL };

  if (!gantry_cli_parse ("devices", "", "Lists what programs can run on, and says what is missing for others.", &options, own, &argc,
                         &argv))
    return GANTRY_EXIT_ERROR;
  if (argc != 1)
    {
      gantry_cli_tell ("gantry-cli devices: takes no arguments\n");
      return GANTRY_EXIT_ERROR;
    }
  look (&listing, measured);
  if (options.json)
    print_json (&listing);
  else
    print_text (&listing);
  failed = listing.cpu_measured.failed;
  for (guint i = 0; listing.probe != NULL && i < listing.probe->n_devices; i++)
    failed = failed || listing.measured[i].failed;
  gantry_cuda_probe_free (listing.probe);
  g_clear_error (&listing.why);
  g_free (listing.cpu);
  g_free (listing.measured);
  return failed ? GANTRY_EXIT_ERROR : GANTRY_EXIT_DONE;
}
