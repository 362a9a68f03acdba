/* SPDX-License-Identifier: Apache-2.0 */
/* The memory analysis as tables for people. */
#include "core/base/format.h"
#include "core/graph/node-text.h"
#include "core/planner/report.h"
#include <string.h>

const char *
gantry_buffer_role_name (GantryBufferRole role)
{
  static const char *const names[GANTRY_N_ROLES] = { "other", "input", "parameter", "state", "residual", "gradient", "workspace", "output" };

  g_return_val_if_fail ((guint) role < G_N_ELEMENTS (names), "other");
  return names[role];
}

/* Less than 0: more of it. (transfer full) */
static char *
signed_text (gint64 bytes)
{
  g_autofree char *size = gantry_format_bytes (bytes < 0 ? -(guint64) bytes : (guint64) bytes);

  return g_strconcat (bytes < 0 ? "-" : "", size, NULL);
}

static void
add_size_row (GString *text, const char *what, guint64 device, guint64 host)
{
  g_autofree char *first = gantry_format_bytes (device), *second = gantry_format_bytes (host);

  g_string_append_printf (text, "%-16s %14s %14s\n", what, first, second);
}

/* What only kernels know is not known before they were made once. */
static void
add_part_row (GString *text, const GantryMemoryAnalysis *analysis, GantryMemoryPart part)
{
  if (!analysis->sizes_known && (part == GANTRY_PART_PACKED_WEIGHTS || part == GANTRY_PART_WORKSPACES || part == GANTRY_PART_CODE))
    g_string_append_printf (text, "%-16s %14s %14s\n", gantry_memory_part_name (part), "not known yet", "");
  else
    add_size_row (text, gantry_memory_part_name (part), analysis->device.bytes[part], analysis->host.bytes[part]);
}

static void
add_sizes (GString *text, const GantryMemoryAnalysis *analysis)
{
  g_autofree char *peak = gantry_memory_peak_text (analysis->peak_bytes, analysis->limit, analysis->sizes_known);
  g_autofree char *bound = gantry_format_bytes_bound (analysis->lower_bound_bytes, analysis->peak_bytes, analysis->limit);
  g_autofree char *sum = gantry_format_bytes_within (analysis->peak_bytes, analysis->limit), *host = gantry_format_bytes (analysis->host_peak_bytes);

  g_string_append_printf (text, "peak %s; no packing of this order is below %s\n\n", peak, bound);
  g_string_append_printf (text, "%-16s %14s %14s\n", "at the peak", "device", "host");
  for (guint part = 0; part < GANTRY_N_MEMORY_PARTS; part++)
    add_part_row (text, analysis, (GantryMemoryPart) part);
  g_string_append_printf (text, "%-16s %14s %14s\n", analysis->sizes_known ? "sum" : "sum, at least", sum, host);
  g_string_append_printf (text, "\n%-16s %14s %14s\n", "as JAX counts", "device", "host");
  add_size_row (text, analysis->sizes_known ? "temp" : "temp, at least", analysis->temp_bytes, analysis->host_temp_bytes); /* temporaries and workspaces */
  add_size_row (text, "arguments", analysis->argument_bytes, analysis->host_argument_bytes);
  add_size_row (text, "outputs", analysis->output_bytes, analysis->host_output_bytes);
  add_size_row (text, "aliased outputs", analysis->alias_bytes, analysis->host_alias_bytes);
  add_size_row (text, "generated code", analysis->generated_code_bytes, analysis->host_generated_code_bytes);
}

/* Of no value, and there all the time. */
static void
add_steady_row (GString *text, const GantryMemoryAnalysis *analysis, GantryMemoryPart part)
{
  const guint64 bytes = analysis->device.bytes[part];

  if (!analysis->sizes_known && part != GANTRY_PART_CONSTANTS)
    g_string_append_printf (text, "%-16s %14s\n", gantry_memory_part_name (part), "not known yet");
  else if (bytes > 0)
    add_size_row (text, gantry_memory_part_name (part), bytes, bytes);
}

/* All that the peak is made of: values by role, and what lies beside and between them. */
static void
add_roles (GString *text, const GantryMemoryAnalysis *analysis)
{
  const guint64 beside = analysis->device.bytes[GANTRY_PART_CONSTANTS] + analysis->device.bytes[GANTRY_PART_PACKED_WEIGHTS]
                         + analysis->device.bytes[GANTRY_PART_CODE];
  const guint64 arena = analysis->peak_bytes - MIN (beside, analysis->peak_bytes);
  g_autofree char *sum = gantry_format_bytes_within (analysis->peak_bytes, analysis->limit),
                  *between = gantry_format_bytes (arena - MIN (analysis->live_bytes, arena));

  g_string_append_printf (text, "\n%-16s %14s %14s\n", "role", "at the peak", "largest");
  for (guint role = 0; role < GANTRY_N_ROLES; role++)
    {
      g_autofree char *at_peak = gantry_format_bytes (analysis->at_peak[role]);
      g_autofree char *largest = gantry_format_bytes (analysis->largest[role]);

      if (analysis->largest[role] > 0)
        g_string_append_printf (text, "%-16s %14s %14s\n", gantry_buffer_role_name (role), at_peak, largest);
    }
  if (arena > analysis->live_bytes)
    g_string_append_printf (text, "%-16s %14s\n", "free in between", between);
  add_steady_row (text, analysis, GANTRY_PART_CONSTANTS);
  add_steady_row (text, analysis, GANTRY_PART_PACKED_WEIGHTS);
  add_steady_row (text, analysis, GANTRY_PART_CODE);
  g_string_append_printf (text, "%-16s %14s\n", analysis->sizes_known ? "sum" : "sum, at least", sum);
}

static char *
change_text (gint64 saves, double costs)
{
  g_autofree char *bytes = saves != G_MININT64 ? signed_text (saves) : NULL;

  return bytes != NULL ? g_strdup_printf ("%s, %+.1f us", bytes, costs) : g_strdup ("-");
}

static void
add_holders (GString *out, const GantryMemoryAnalysis *analysis, const GantryModule *module, guint most)
{
  guint n = analysis->holders->len, shown = MIN (most, n);

  g_string_append_printf (out, "\n%-14s %-10s %-10s %-24s %-24s %s\n", "alive at peak", "role", "placement", "recompute saves", "offload saves",
                          "value, and until which use");
  for (guint i = 0; i < shown; i++)
    {
      const GantryMemoryHolder *holder = &g_array_index (analysis->holders, GantryMemoryHolder, i);
      g_autofree char *bytes = gantry_format_bytes (holder->bytes);
      g_autofree char *recompute = change_text (holder->saves_recompute, holder->costs_recompute);
      g_autofree char *offload = change_text (holder->saves_offload, holder->costs_offload);
      g_autofree char *text = gantry_node_text (module, holder->node), *value = gantry_format_text (text, FALSE);
      g_autofree char *use = gantry_node_until_text (module, holder->until_node, holder->is_argument);
      g_autofree char *until = gantry_format_text (use, FALSE);

      g_string_append_printf (out, "%-14s %-10s %-10s %-24s %-24s %s, until %s\n", bytes, gantry_buffer_role_name (holder->role),
                              holder->subject == GANTRY_SUBJECT_NONE ? "-" : gantry_placement_kind_name (holder->kind), recompute, offload, value, until);
    }
  if (shown < n)
    g_string_append_printf (out, "and %u smaller ones\n", n - shown);
}

static void
add_scopes (GString *text, const GantryMemoryAnalysis *analysis, const GantryModule *module)
{
  g_string_append_printf (text, "\n%-14s %s\n", "alive at peak", "scope");
  for (guint i = 0; i < MIN (analysis->scopes->len, 20); i++)
    {
      const GantryMemoryScope *scope = &g_array_index (analysis->scopes, GantryMemoryScope, i);
      g_autofree char *bytes = gantry_format_bytes (scope->bytes);
      g_autofree char *path = gantry_format_text (gantry_context_scope_path (module->context, scope->scope), FALSE);

      g_string_append_printf (text, "%-14s %s\n", bytes, scope->scope == 0 ? "(all values; constants and code are of no scope)" : path);
    }
  if (analysis->scopes->len > 20)
    g_string_append_printf (text, "and %u more\n", analysis->scopes->len - 20);
}

char *
gantry_memory_analysis_to_text (const GantryMemoryAnalysis *analysis, const GantryModule *module, guint most_holders)
{
  GString *text = g_string_new (NULL);

  add_sizes (text, analysis);
  add_roles (text, analysis);
  if (analysis->holders->len > 0 && most_holders > 0)
    add_holders (text, analysis, module, most_holders);
  if (analysis->scopes->len > 1)
    add_scopes (text, analysis, module);
  return g_string_free (text, FALSE);
}
