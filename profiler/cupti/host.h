/* SPDX-License-Identifier: Apache-2.0 */
/* CUPTI's side of metrics that needs no GPU: from names to a configuration of the counters, and from what they
 * counted to values. */
#pragma once
#include "profiler/cupti/library.h"

G_BEGIN_DECLS

typedef struct
{
  const GantryCuptiLibrary *library;
  CUpti_ProfilerType type;
  char *chip;
  const guint8 *availability; /* (nullable): of the GPU; belongs to the caller */
  CUpti_Profiler_Host_Object *object;
  GPtrArray *names; /* of the metrics that were configured */
  guint8 *config;
  gsize config_size, n_passes;
} GantryCuptiHost;

/** @chip: "GH100"; @availability: (nullable) */
GantryCuptiHost *
_gantry_cupti_host_new (const GantryCuptiLibrary *library, const char *chip, CUpti_ProfilerType type, const guint8 *availability, GError **error);
void _gantry_cupti_host_free (GantryCuptiHost *host);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GantryCuptiHost, _gantry_cupti_host_free)
/**
 * _gantry_cupti_host_configure:
 *
 * Configures all metrics at once: each call would open a pass of its own. When one of them is refused, the object
 * answers nothing any more: it is made anew and each name is tried alone.
 *
 * Returns: FALSE when none is left; @refused: (transfer full): the names that the chip does not have; empty mostly
 */
gboolean _gantry_cupti_host_configure (GantryCuptiHost *host, const char *const *names, guint n, GPtrArray **refused, GError **error);
/** Values of all configured metrics in range or sample @index of a counter data image. */
gboolean _gantry_cupti_host_evaluate (GantryCuptiHost *host, const guint8 *image, gsize size, gsize index, double *values, GError **error);

G_END_DECLS
