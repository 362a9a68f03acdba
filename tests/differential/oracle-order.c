/* SPDX-License-Identifier: Apache-2.0 */
/* Errors of what orders and addresses: sorting and scattering. */
#include "tests/differential/oracle.h"
#include <math.h>
#include <string.h>

/* Sort: the k-th of numbers that move by at most e moves by at most e. What follows the keys is known where no two keys
 * that may change places meet. */

typedef struct
{
  gint64 first, stride, length;
} Line;

/* Where each element of the sorted keys comes from along the dimension. Returns: (transfer full) (nullable) */
static double *
find_sources (const DiffOracle *oracle, const GantryNode *node, const DiffValue *keys, Line line, GError **error)
{
  GantryNode with_places = *node;
  gint64 n = gantry_type_elements (keys->type);
  g_autofree double *places = g_new0 (double, n + 1);
  g_autoptr (GantryLiteral) numbers = NULL;
  GantryLiteral *results[2] = { NULL };
  double *sources;

  for (gint64 i = 0; i < n; i++)
    places[i] = (double) (i / line.stride % line.length);
  numbers = _diff_doubles (oracle->module->context, keys->type, places);
  with_places.n_operands = 2;
  if (!_diff_twin (oracle->module, &with_places, FALSE, NULL, (GantryLiteral *const[]){ keys->value, numbers }, results, error))
    return NULL;
  sources = _diff_read_doubles (results[1]);
  gantry_literal_unref (results[0]);
  gantry_literal_unref (results[1]);
  return sources;
}

/* Marks the places of a line whose element is known. Keys are in sorted order, ascending. */
static void
mark_known (const double *key, const double *e, gint64 n, gboolean *known)
{
  g_autofree double *most = g_new (double, n + 1), *least = g_new (double, n + 1);
  gboolean exact = TRUE;

  for (gint64 i = 0; i < n; i++)
    exact = exact && e[i] == 0;
  for (gint64 i = 0; i < n; i++)
    known[i] = TRUE;
  if (exact)
    return;
  for (gint64 i = 0; i < n; i++)
    {
      most[i] = MAX (key[i] + e[i], i > 0 ? most[i - 1] : -INFINITY);
      least[n - 1 - i] = MIN (key[n - 1 - i] - e[n - 1 - i], i > 0 ? least[n - i] : INFINITY);
    }
  for (gint64 i = 0; i + 1 < n; i++)
    if (!(most[i] < least[i + 1])) /* NaN too */
      known[i] = known[i + 1] = FALSE;
}

static void
sort_line (const GantryNode *node, DiffValue *const *operands, const double *keys, const double *sources, gboolean descending, Line line, double **errors)
{
  g_autofree double *key = g_new (double, line.length + 1), *e = g_new (double, line.length + 1);
  g_autofree gboolean *known = g_new (gboolean, line.length + 1);
  double most = 0;

  for (gint64 i = 0; i < line.length; i++)
    {
      gint64 from = line.first + (gint64) sources[line.first + i * line.stride] * line.stride;

      key[i] = descending ? -keys[from] : keys[from];
      e[i] = operands[0]->error != NULL ? operands[0]->error[from] : 0;
      most = MAX (most, isnan (e[i]) ? INFINITY : e[i]);
    }
  for (gint64 i = 0; most > 0 && i < line.length; i++)
    if (isnan (key[i]))
      most = INFINITY;
  mark_known (key, e, line.length, known);
  for (gint64 i = 0; i < line.length; i++)
    {
      gint64 to = line.first + i * line.stride, from = line.first + (gint64) sources[to] * line.stride;

      errors[0][to] = most;
      for (guint o = 1; o < node->n_operands; o++)
        errors[o][to] = !known[i] || isinf (most) ? INFINITY : operands[o]->error != NULL ? operands[o]->error[from] : 0;
    }
}

gboolean
_diff_apply_sort (const DiffOracle *oracle, const GantryNode *node, DiffValue *const *operands, double **errors, GError **error)
{
  GantryContext *context = oracle->module->context;
  const GantryType *type = operands[0]->type;
  gint64 dimension = gantry_attrs_int (context, node->attrs, "dimension", 0), n = gantry_type_elements (type);
  gboolean descending = gantry_attrs_int (context, node->attrs, "descending", 0) != 0;
  Line line = { .stride = 1, .length = type->dims[dimension] };
  g_autofree double *keys = _diff_read_doubles (operands[0]->value), *sources = NULL;

  for (guint d = (guint) dimension + 1; d < type->rank; d++)
    line.stride *= type->dims[d];
  sources = find_sources (oracle, node, operands[0], line, error);
  if (sources == NULL)
    return FALSE;
  for (line.first = 0; line.first < n; line.first++)
    if (line.first / line.stride % line.length == 0)
      sort_line (node, operands, keys, sources, descending, line, errors);
  return TRUE;
}

/* Scatter */

typedef struct
{
  DiffOracle *oracle;
  const GantryNode *node;
  DiffValue *const *operands;
} Scattering;

/* The node on other inputs and updates, at the same indices. Returns: (transfer full) (nullable) */
static double *
scatter (const Scattering *s, const char *kind, const double *input, const double *updates, GError **error)
{
  GantryContext *context = s->oracle->module->context;
  g_autoptr (GantryLiteral) x = _diff_doubles (context, s->operands[0]->type, input);
  g_autoptr (GantryLiteral) u = _diff_doubles (context, s->operands[2]->type, updates);
  g_autoptr (GantryLiteral) result = NULL;
  GantryLiteral *const operands[] = { x, s->operands[1]->value, u };

  if (!_diff_twin (s->oracle->module, s->node, FALSE, kind, operands, &result, error))
    return NULL;
  return _diff_read_doubles (result);
}

/* x + s e, of input and updates; @size: of their magnitudes */
static double *
scatter_shifted (const Scattering *s, const char *kind, gboolean size, double factor, GError **error)
{
  double *made[2];
  double *result;

  for (guint k = 0; k < 2; k++)
    {
      const DiffValue *value = s->operands[2 * k];
      gint64 n = gantry_type_elements (value->type);

      made[k] = _diff_read_doubles (value->value);
      for (gint64 i = 0; i < n; i++)
        made[k][i] = (size ? fabs (made[k][i]) : made[k][i]) + (value->error != NULL ? factor * value->error[i] : 0);
    }
  result = scatter (s, kind, made[0], made[1], error);
  g_free (made[0]);
  g_free (made[1]);
  return result;
}

/* How many updates meet each element: each rounds. */
static double *
count_updates (const Scattering *s, GError **error)
{
  gint64 n = gantry_type_elements (s->operands[2]->type);
  g_autofree double *zeros = g_new0 (double, gantry_type_elements (s->operands[0]->type) + 1);
  g_autofree double *ones = g_new (double, n + 1);

  for (gint64 i = 0; i < n; i++)
    ones[i] = 1;
  return scatter (s, "add", zeros, ones, error);
}

static gboolean
scatter_moved (const Scattering *s, const char *kind, double *errors, gint64 n, GError **error)
{
  g_autofree double *zeros = g_new0 (double, gantry_type_elements (s->operands[0]->type) + 1);
  g_autofree double *none = g_new0 (double, gantry_type_elements (s->operands[2]->type) + 1);
  g_autofree double *moved = scatter (s, kind, s->operands[0]->error != NULL ? s->operands[0]->error : zeros,
                                      s->operands[2]->error != NULL ? s->operands[2]->error : none, error);

  if (moved == NULL)
    return FALSE;
  memcpy (errors, moved, (gsize) n * sizeof *errors);
  return TRUE;
}

static gboolean
scatter_sums (const Scattering *s, const char *kind, const GantryType *type, double *errors, GError **error)
{
  gint64 n = gantry_type_elements (type);
  g_autofree double *count = count_updates (s, error);
  g_autofree double *most = count != NULL ? scatter_shifted (s, kind, TRUE, 1, error) : NULL;
  g_autofree double *size = most != NULL ? scatter_shifted (s, kind, TRUE, 0, error) : NULL;

  if (size == NULL)
    return FALSE;
  for (gint64 i = 0; i < n; i++)
    errors[i] = most[i] - size[i] + count[i] * _diff_unit (type->element) * most[i];
  return TRUE;
}

static gboolean
scatter_extremes (const Scattering *s, const double *value, gint64 n, double *errors, GError **error)
{
  g_autofree double *low = scatter_shifted (s, NULL, FALSE, -1, error);
  g_autofree double *high = low != NULL ? scatter_shifted (s, NULL, FALSE, 1, error) : NULL;

  if (high == NULL)
    return FALSE;
  for (gint64 i = 0; i < n; i++)
    errors[i] = MAX (_diff_distance (low[i], value[i]), _diff_distance (high[i], value[i]));
  return TRUE;
}

gboolean
_diff_apply_scatter (DiffOracle *oracle, const GantryNode *node, DiffValue *const *operands, double *errors, const double *value, GError **error)
{
  Scattering s = { oracle, node, operands };
  const GantryType *type = operands[0]->type;
  const char *kind = gantry_attrs_string (oracle->module->context, node->attrs, "kind", "set");
  gboolean exact = _diff_is_exact (operands[0]) && _diff_is_exact (operands[2]);
  gint64 n = gantry_type_elements (type);

  if (!_diff_is_exact (operands[1]))
    {
      for (gint64 i = 0; i < n; i++)
        errors[i] = INFINITY;
      return TRUE;
    }
  if (!gantry_element_is_float (type->element))
    return exact || scatter_moved (&s, "max", errors, n, error);
  if (strcmp (kind, "set") == 0)
    return exact || scatter_moved (&s, kind, errors, n, error);
  if (strcmp (kind, "max") == 0 || strcmp (kind, "min") == 0)
    return exact || scatter_extremes (&s, value, n, errors, error);
  return scatter_sums (&s, kind, type, errors, error);
}
