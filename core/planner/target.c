/* SPDX-License-Identifier: Apache-2.0 */
/* The cost model: rates of a machine, their text form, and the roofline. */
#include "core/planner/target.h"
#include "core/base/error.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define GROUP "target"

void
gantry_target_name_cpu (GantryTarget *target, guint n_threads)
{
  guint threads = n_threads > 0 ? n_threads : g_get_num_processors ();

  g_snprintf (target->name, sizeof target->name, "cpu, %u %s", threads, threads == 1 ? "thread" : "threads");
}

char *
gantry_target_rates_text (const GantryTarget *target)
{
  if (*target->measured != '\0')
    return g_strdup_printf ("calibrated %s%.10s", target->here ? "on this machine " : "", target->measured);
  return g_strdup (target->here ? "stated rates, not measured here" : *target->arch != '\0' ? "rates of a GPU, not measured here" : "rates as given");
}

void
gantry_target_init_cpu (GantryTarget *target, guint n_threads)
{
  guint threads = n_threads > 0 ? n_threads : g_get_num_processors ();

  *target = (GantryTarget){ .here = TRUE };
  gantry_target_name_cpu (target, n_threads);
  /* 2.5 GHz, two fused multiply-adds of 8 lanes a cycle. */
  target->peak_flops = threads * 2.5e9 * 2 * 8 * 2;
  target->memory_bandwidth = 12e9 + (threads - 1) * 6e9;
  target->launch_us = 1.0;
  target->link_bandwidth = 10e9;
}

void
gantry_target_init_gpu (GantryTarget *target, const GantryGpuModel *model)
{
  *target = (GantryTarget){ 0 };
  g_snprintf (target->name, sizeof target->name, "%s, as published", model->label);
  g_strlcpy (target->arch, model->arch, sizeof target->arch);
  target->peak_flops = model->rates[GANTRY_UNIT_VECTOR_F32];
  target->memory_bandwidth = model->memory_bandwidth;
  target->launch_us = GANTRY_GPU_LAUNCH_US;
  target->link_bandwidth = model->link_bandwidth;
  for (guint u = GANTRY_UNIT_VECTOR_F32 + 1; u < GANTRY_N_UNITS; u++)
    target->rates[u] = model->rates[u];
}

static char *
curve_key (guint work)
{
  return g_strconcat ("curve_", gantry_work_name ((GantryWorkKind) work), NULL);
}

static void
write_limits (GKeyFile *file, const GantryTarget *target)
{
  g_key_file_set_uint64 (file, GROUP, "memory_limit", target->memory_limit);
  if (target->memory_part > 0)
    g_key_file_set_double (file, GROUP, "memory_part", target->memory_part);
  g_key_file_set_uint64 (file, GROUP, "host_limit", target->host_limit);
}

/* What is not known is left out. */
static void
write_measured (GKeyFile *file, const GantryTarget *target)
{
  if (target->run_us > 0)
    g_key_file_set_double (file, GROUP, "run_us", target->run_us);
  if (target->trip_us > 0)
    g_key_file_set_double (file, GROUP, "trip_us", target->trip_us);
  if (target->inner_us > 0)
    g_key_file_set_double (file, GROUP, "inner_us", target->inner_us);
  if (target->copy_us > 0)
    g_key_file_set_double (file, GROUP, "copy_us", target->copy_us);
  for (guint w = 0; w < GANTRY_N_WORKS; w++)
    if (target->curves[w].n > 0)
      {
        g_autofree char *key = curve_key (w), *text = gantry_curve_to_text (&target->curves[w]);

        g_key_file_set_value (file, GROUP, key, text);
      }
  if (*target->measured != '\0')
    g_key_file_set_string (file, GROUP, "measured", target->measured);
}

char *
gantry_target_to_text (const GantryTarget *target)
{
  g_autoptr (GKeyFile) file = g_key_file_new ();

  g_key_file_set_string (file, GROUP, "name", target->name);
  if (*target->arch != '\0')
    g_key_file_set_string (file, GROUP, "arch", target->arch);
  g_key_file_set_double (file, GROUP, "peak_flops", target->peak_flops);
  for (guint u = GANTRY_UNIT_VECTOR_F32 + 1; u < GANTRY_N_UNITS; u++)
    if (target->rates[u] > 0)
      g_key_file_set_double (file, GROUP, gantry_unit_name ((GantryUnit) u), target->rates[u]);
  g_key_file_set_double (file, GROUP, "memory_bandwidth", target->memory_bandwidth);
  g_key_file_set_double (file, GROUP, "launch_us", target->launch_us);
  g_key_file_set_double (file, GROUP, "link_bandwidth", target->link_bandwidth);
  write_measured (file, target);
  write_limits (file, target);
  return g_key_file_to_data (file, NULL, NULL);
}

char *
gantry_target_given_text (const GantryTarget *target)
{
  g_autoptr (GKeyFile) file = NULL;

  if (!target->here)
    return gantry_target_to_text (target);
  file = g_key_file_new ();
  g_key_file_set_string (file, GROUP, "name", target->name);
  g_key_file_set_boolean (file, GROUP, "here", TRUE);
  write_limits (file, target);
  return g_key_file_to_data (file, NULL, NULL);
}

static gboolean
read_number (GKeyFile *file, const char *key, gboolean may_be_zero, double *value, GError **error)
{
  g_autoptr (GError) local = NULL;
  double read;

  if (!g_key_file_has_key (file, GROUP, key, NULL))
    return TRUE;
  read = g_key_file_get_double (file, GROUP, key, &local);
  if (local != NULL || !isfinite (read))
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "target: '%s' is not a number; write it as 1.5e12", key);
      return FALSE;
    }
  if (read < 0 || (read < 1 && !may_be_zero))
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "target: '%s' is %g; it has to be %s", key, read,
                   may_be_zero ? "0 or more" : "1 or more: nothing is free");
      return FALSE;
    }
  if (read > GANTRY_CURVE_MOST)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "target: '%s' is %g; it has to be %g at most", key, read, GANTRY_CURVE_MOST);
      return FALSE;
    }
  *value = read;
  return TRUE;
}

static gboolean
read_limit (GKeyFile *file, const char *key, guint64 *value, GError **error)
{
  g_autofree char *text = g_key_file_get_string (file, GROUP, key, NULL);

  if (text == NULL || g_ascii_string_to_unsigned (g_strstrip (text), 10, 0, G_MAXUINT64, value, NULL))
    return TRUE;
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "target: '%s' is not a number of bytes", key);
  return FALSE;
}

/* What a text begins with that names a GPU; what it says of it comes over that. */
static void
begin_with_model (GKeyFile *file, GantryTarget *target)
{
  g_autofree char *arch = g_key_file_get_string (file, GROUP, "arch", NULL);
  const GantryGpuModel *model = arch != NULL ? gantry_gpu_model (arch) : NULL;
  double memory_part = target->memory_part;
  guint64 memory_limit = target->memory_limit, host_limit = target->host_limit;

  if (model == NULL || strcmp (target->arch, arch) == 0)
    return;
  gantry_target_init_gpu (target, model);
  target->memory_limit = memory_limit;
  target->memory_part = memory_part;
  target->host_limit = host_limit;
}

static gboolean
read_units (GKeyFile *file, GantryTarget *target, GError **error)
{
  if (g_key_file_has_key (file, GROUP, "peak_flops", NULL))
    memset (target->rates, 0, sizeof target->rates);
  for (guint u = GANTRY_UNIT_VECTOR_F32 + 1; u < GANTRY_N_UNITS; u++)
    if (!read_number (file, gantry_unit_name ((GantryUnit) u), FALSE, &target->rates[u], error))
      return FALSE;
  return TRUE;
}

static gboolean
read_curves (GKeyFile *file, GantryTarget *target, GError **error)
{
  for (guint w = 0; w < GANTRY_N_WORKS; w++)
    {
      g_autofree char *key = curve_key (w), *text = g_key_file_get_value (file, GROUP, key, NULL);

      if (text == NULL || gantry_curve_parse (&target->curves[w], text))
        continue;
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID,
                   "target: '%s' is no curve; write points by rising work as 1000:0.5;8000:4.2; (of work, and microseconds, %u at most)", key,
                   GANTRY_CURVE_POINTS);
      return FALSE;
    }
  return TRUE;
}

/* Who gives rates gives all of them: curves that were there are of another machine. */
static void
forget_measured (GKeyFile *file, GantryTarget *target)
{
  g_autofree char *measured = g_key_file_get_string (file, GROUP, "measured", NULL);

  memset (target->curves, 0, sizeof target->curves);
  target->run_us = target->trip_us = target->inner_us = target->copy_us = 0;
  g_strlcpy (target->measured, measured != NULL && g_str_is_ascii (measured) ? measured : "", sizeof target->measured);
}

/* Texts from before "here" was written tell it by the rates: nobody else has just those. */
static gboolean
is_here (GKeyFile *file, const GantryTarget *target)
{
  GantryTarget stated;
  guint n_threads;

  if (g_key_file_has_key (file, GROUP, "here", NULL))
    return g_key_file_get_boolean (file, GROUP, "here", NULL);
  if (*target->arch != '\0' || sscanf (target->name, "cpu, %u thread", &n_threads) != 1 || n_threads == 0)
    return FALSE;
  gantry_target_init_cpu (&stated, n_threads);
  return strcmp (stated.name, target->name) == 0 && stated.peak_flops == target->peak_flops && stated.memory_bandwidth == target->memory_bandwidth
         && stated.launch_us == target->launch_us && stated.link_bandwidth == target->link_bandwidth && target->curves[GANTRY_WORK_BYTES].n == 0;
}

/* As it was, where that is this machine's processor, with the limits of @read. */
static void
take_limits (GantryTarget *target, const GantryTarget *read)
{
  if (!target->here)
    gantry_target_init_cpu (target, 0);
  target->memory_limit = read->memory_limit;
  target->memory_part = read->memory_part;
  target->host_limit = read->host_limit;
}

gboolean
gantry_target_parse (GantryTarget *target, const char *text, gssize length, GError **error)
{
  g_autoptr (GKeyFile) file = g_key_file_new ();
  g_autoptr (GError) local = NULL;
  g_autofree char *name = NULL, *arch = NULL;
  GantryTarget read = *target;

  if (!g_key_file_load_from_data (file, text, length < 0 ? strlen (text) : (gsize) length, G_KEY_FILE_NONE, &local))
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "target: %s", local->message);
      return FALSE;
    }
  if (!g_key_file_has_group (file, GROUP))
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "target: the group [" GROUP "] is missing");
      return FALSE;
    }
  begin_with_model (file, &read);
  forget_measured (file, &read);
  if (!read_number (file, "peak_flops", FALSE, &read.peak_flops, error) || !read_units (file, &read, error)
      || !read_number (file, "memory_bandwidth", FALSE, &read.memory_bandwidth, error) || !read_number (file, "launch_us", TRUE, &read.launch_us, error)
      || !read_number (file, "link_bandwidth", FALSE, &read.link_bandwidth, error) || !read_number (file, "run_us", TRUE, &read.run_us, error)
      || !read_number (file, "trip_us", TRUE, &read.trip_us, error) || !read_number (file, "inner_us", TRUE, &read.inner_us, error)
      || !read_number (file, "copy_us", TRUE, &read.copy_us, error) || !read_curves (file, &read, error)
      || !read_limit (file, "memory_limit", &read.memory_limit, error) || !read_number (file, "memory_part", TRUE, &read.memory_part, error)
      || !read_limit (file, "host_limit", &read.host_limit, error))
    return FALSE;
  name = g_key_file_get_string (file, GROUP, "name", NULL);
  if (name != NULL)
    {
      const char *end;

      g_strlcpy (read.name, name, sizeof read.name);
      /* Cut within a character, the name would no longer be UTF-8. */
      if (!g_utf8_validate (read.name, -1, &end))
        read.name[end - read.name] = '\0';
    }
  arch = g_key_file_get_string (file, GROUP, "arch", NULL);
  if (arch != NULL)
    g_strlcpy (read.arch, g_str_is_ascii (arch) ? arch : "", sizeof read.arch);
  read.here = FALSE;
  if (is_here (file, &read))
    take_limits (target, &read);
  else
    *target = read;
  return TRUE;
}

double
gantry_target_predict_us (const GantryTarget *target, gint64 flops, gint64 bytes)
{
  double compute = flops > 0 && target->peak_flops > 0 ? (double) flops / target->peak_flops : 0;
  double memory = bytes > 0 && target->memory_bandwidth > 0 ? (double) bytes / target->memory_bandwidth : 0;

  return MAX (compute, memory) * 1e6 + MAX (target->launch_us, 0);
}

void
gantry_target_enter_loop (GantryTarget *target)
{
  target->run_us = target->trip_us;
  target->launch_us = target->inner_us > 0 ? target->inner_us : target->launch_us;
}

double
gantry_target_predict_kernel_us (const GantryTarget *target, const GantryModule *module, const GantryNode *node, double memory_us)
{
  double work[GANTRY_N_WORKS], us = memory_us;

  gantry_node_work (module, node, work);
  for (guint w = GANTRY_WORK_BYTES + 1; w < GANTRY_N_WORKS; w++)
    us += target->curves[w].n > 0 ? gantry_curve_us (&target->curves[w], work[w]) : target->peak_flops > 0 ? work[w] / target->peak_flops * 1e6 : 0;
  return us + MAX (target->launch_us, 0);
}

double
gantry_target_predict_node_us (const GantryTarget *target, const GantryModule *module, const GantryNode *node)
{
  double seconds, work[GANTRY_N_WORKS];

  if (target->curves[GANTRY_WORK_BYTES].n > 0)
    {
      gantry_node_work (module, node, work);
      return gantry_target_predict_kernel_us (target, module, node, gantry_curve_us (&target->curves[GANTRY_WORK_BYTES], work[GANTRY_WORK_BYTES]));
    }
  seconds = gantry_node_seconds (module, node, target->peak_flops, target->rates);
  return MAX (seconds * 1e6 + MAX (target->launch_us, 0), gantry_target_predict_us (target, -1, gantry_node_bytes (module, node)));
}

double
gantry_target_predict_copy_us (const GantryTarget *target, guint64 bytes)
{
  double seconds = target->link_bandwidth > 0 ? (double) bytes / target->link_bandwidth : 0;

  return seconds * 1e6 + MAX (target->copy_us > 0 ? target->copy_us : target->launch_us, 0);
}
