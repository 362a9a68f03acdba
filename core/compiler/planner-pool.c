/* SPDX-License-Identifier: Apache-2.0 */
/* The planners of a compilation that nobody is using. */
#include "core/compiler/planner-pool.h"

struct _GantryPlannerPool
{
  GMutex lock;
  GPtrArray *idle; /* GantryPlanner */
};

GantryPlannerPool *
_gantry_planner_pool_new (void)
{
  GantryPlannerPool *pool = g_new0 (GantryPlannerPool, 1);

  g_mutex_init (&pool->lock);
  pool->idle = g_ptr_array_new_with_free_func ((GDestroyNotify) gantry_planner_free);
  return pool;
}

void
_gantry_planner_pool_free (GantryPlannerPool *pool)
{
  if (pool == NULL)
    return;
  g_ptr_array_unref (pool->idle);
  g_mutex_clear (&pool->lock);
  g_free (pool);
}

GantryPlanner *
_gantry_planner_pool_take (GantryPlannerPool *pool)
{
  GantryPlanner *planner = NULL;

  g_mutex_lock (&pool->lock);
  if (pool->idle->len > 0)
    planner = g_ptr_array_steal_index (pool->idle, pool->idle->len - 1);
  g_mutex_unlock (&pool->lock);
  return planner;
}

void
_gantry_planner_pool_give (GantryPlannerPool *pool, GantryPlanner *planner)
{
  g_mutex_lock (&pool->lock);
  g_ptr_array_add (pool->idle, planner);
  g_mutex_unlock (&pool->lock);
}
