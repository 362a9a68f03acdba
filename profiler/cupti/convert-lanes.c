/* SPDX-License-Identifier: Apache-2.0 */
/* Which lane each stream, thread and range gets, and what it is called. */
#include "profiler/cupti/convert-private.h"

Group *
_gantry_cupti_group (Converter *converter, GroupKind kind, guint32 a, guint32 b)
{
  Group key = { .kind = kind, .a = a, .b = b };
  Group *group = g_hash_table_lookup (converter->groups, &key);

  if (group != NULL)
    return group;
  group = g_new0 (Group, 1);
  group->kind = kind;
  group->a = a;
  group->b = b;
  group->events = g_array_new (FALSE, FALSE, sizeof (GantryEvent));
  group->ordered = g_byte_array_new ();
  g_hash_table_add (converter->groups, group);
  return group;
}

guint16
_gantry_cupti_thread (Converter *converter, guint32 thread)
{
  guint number = GPOINTER_TO_UINT (g_hash_table_lookup (converter->threads, GUINT_TO_POINTER (thread)));

  if (number == 0)
    {
      number = MIN (g_hash_table_size (converter->threads) + 1, G_MAXUINT16);
      g_hash_table_insert (converter->threads, GUINT_TO_POINTER (thread), GUINT_TO_POINTER (number));
    }
  return (guint16) number;
}

/* Streams and threads first, in the order of their numbers, so that the same capture always looks the same. */
static int
compare_groups (gconstpointer a, gconstpointer b)
{
  const Group *x = *(Group *const *) a, *y = *(Group *const *) b;

  if (x->kind != y->kind)
    return x->kind < y->kind ? -1 : 1;
  if (x->a != y->a)
    return x->a < y->a ? -1 : 1;
  return (x->b > y->b) - (x->b < y->b);
}

static char *
thread_name (const Converter *converter, guint32 thread)
{
  const char *name = g_hash_table_lookup (converter->thread_names, GUINT_TO_POINTER (thread));

  return name != NULL ? g_strdup_printf ("%s (thread %u)", name, thread) : g_strdup_printf ("thread %u", thread);
}

/* Streams are numbered anew in each context. */
static char *
stream_name (const Converter *converter, const Group *group)
{
  const char *name = g_hash_table_lookup (converter->stream_names, GUINT_TO_POINTER (group->b));
  g_autofree char *context = g_hash_table_size (converter->contexts) > 1 ? g_strdup_printf (", context %u", group->a) : g_strdup ("");
  g_autofree char *device = group->device != 0 ? g_strdup_printf (", GPU %u", group->device) : g_strdup ("");

  return name != NULL ? g_strdup_printf ("%s (stream %u%s%s)", name, group->b, context, device) : g_strdup_printf ("stream %u%s%s", group->b, context, device);
}

static char *
lane_name (Converter *converter, const Group *group)
{
  g_autofree char *thread = NULL;
  const char *domain;

  switch ((GroupKind) group->kind)
    {
    case GROUP_STREAM: return stream_name (converter, group);
    case GROUP_CALLS: thread = thread_name (converter, group->a); return g_strdup_printf ("%s: calls", thread);
    case GROUP_RANGES:
      thread = group->a != 0 ? thread_name (converter, group->a) : g_strdup ("process");
      domain = g_hash_table_lookup (converter->domains, GUINT_TO_POINTER (group->b));
      return domain != NULL ? g_strdup_printf ("%s: NVTX, %s", thread, domain) : g_strdup_printf ("%s: NVTX", thread);
    case GROUP_SYNC: return g_strdup ("synchronization");
    case GROUP_OVERHEAD: return g_strdup ("overhead");
    default: return g_strdup ("memory");
    }
}

/* The stream on which most instructions of a queue were done is the queue's, if most of what it did is of that
 * queue. */
static void
find_queues (GPtrArray *groups, Group *queues[GANTRY_N_QUEUES])
{
  for (guint i = 0; i < groups->len; i++)
    {
      Group *group = g_ptr_array_index (groups, i);
      guint mine = 0;

      if (group->kind != GROUP_STREAM)
        continue;
      for (guint q = 1; q < GANTRY_N_QUEUES; q++)
        if (group->votes[q] > group->votes[mine])
          mine = q;
      if (group->votes[mine] > 0 && (queues[mine] == NULL || queues[mine]->votes[mine] < group->votes[mine]))
        queues[mine] = group;
    }
}

static void
place (Converter *converter, const Group *group, guint lane)
{
  for (guint i = 0; i < group->events->len; i++)
    {
      GantryEvent *event = &g_array_index (group->events, GantryEvent, i);

      event->lane = (guint8) lane;
      gantry_recording_builder_add (converter->builder, event);
    }
}

void
_gantry_cupti_place_groups (Converter *converter)
{
  g_autoptr (GPtrArray) groups = g_ptr_array_new ();
  GHashTableIter iter;
  gpointer key;
  Group *queues[GANTRY_N_QUEUES] = { NULL };
  guint next = GANTRY_LANE_RUNS + 1, n_others = 0;

  g_hash_table_iter_init (&iter, converter->groups);
  while (g_hash_table_iter_next (&iter, &key, NULL))
    g_ptr_array_add (groups, key);
  g_ptr_array_sort (groups, compare_groups);
  find_queues (groups, queues);
  for (guint i = 0; i < groups->len; i++)
    {
      Group *group = g_ptr_array_index (groups, i);
      g_autofree char *name = NULL;
      guint lane = 0;

      while (lane < GANTRY_N_QUEUES && queues[lane] != group)
        lane++;
      if (lane == GANTRY_N_QUEUES)
        {
          /* One lane is kept for all that is too much. */
          lane = MIN (next, GANTRY_MAX_LANES - 1);
          if (lane == GANTRY_MAX_LANES - 1)
            n_others++;
          else
            next++;
          name = n_others > 0 ? g_strdup ("others") : lane_name (converter, group);
          gantry_recording_builder_set_lane_name (converter->builder, lane, name);
        }
      place (converter, group, lane);
    }
  if (n_others > 1)
    {
      g_autofree char *note = g_strdup_printf ("%u streams and threads share the lane \"others\": a recording has %u lanes.", n_others, GANTRY_MAX_LANES);

      gantry_recording_builder_add_note (converter->builder, note);
    }
}
