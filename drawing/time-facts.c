/* SPDX-License-Identifier: Apache-2.0 */
/* What a bar of the lanes is told beside itself: how long the same took in the plan and in the run, and who waited for it. */
#include "drawing/time-private.h"
#include <string.h>

#define MOST_EVENTS 4000000u /* of a lane: above that it is not looked through */
#define WAIT_FOR "wait for "
#define SLACK 2000 /* ns: between the end of a copy and that of the wait for it */

typedef struct
{
  gint64 begin, end;
  guint32 node; /* that waited */
} Wait;

struct _GantryTimeFacts
{
  GHashTable *totals; /* node and lane -> GantryTimeTotal */
  GHashTable *waits;  /* name of what was waited for -> GArray of Wait */
};

static gpointer
key_of (guint32 node, guint lane)
{
  return GSIZE_TO_POINTER ((gsize) node * GANTRY_N_QUEUES + lane);
}

static void
add_total (GHashTable *totals, const GantryEvent *event)
{
  GantryTimeTotal *total = g_hash_table_lookup (totals, key_of (event->node, event->lane));

  if (total == NULL)
    {
      total = g_new0 (GantryTimeTotal, 1);
      g_hash_table_insert (totals, key_of (event->node, event->lane), total);
    }
  total->n++;
  total->ns += event->end - event->begin;
}

static void
add_wait (GHashTable *waits, const char *name, const GantryEvent *event)
{
  const Wait wait = { event->begin, event->end, event->node };
  GArray *list;

  if (!g_str_has_prefix (name, WAIT_FOR))
    return;
  name += strlen (WAIT_FOR);
  list = g_hash_table_lookup (waits, name);
  if (list == NULL)
    {
      list = g_array_new (FALSE, FALSE, sizeof (Wait));
      g_hash_table_insert (waits, (gpointer) name, list); /* the recording keeps it */
    }
  g_array_append_val (list, wait);
}

static void
free_list (gpointer list)
{
  g_array_unref (list);
}

GantryTimeFacts *
_gantry_time_facts_new (const GantryRecording *recording, gint64 begin, gint64 end)
{
  GantryTimeFacts *facts = g_new0 (GantryTimeFacts, 1);

  facts->totals = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  facts->waits = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, free_list);
  for (guint lane = 0; lane < MIN (gantry_recording_n_lanes (recording), GANTRY_N_QUEUES); lane++)
    {
      guint64 n = gantry_recording_n_events (recording, lane);

      for (guint64 i = 0; n <= MOST_EVENTS && i < n; i++)
        {
          GantryEvent event;

          gantry_recording_get (recording, lane, i, &event);
          if (event.begin < begin || event.begin >= end)
            continue;
          /* That a copy waits for what it copies is as it should be; what costs time is that computing waits. */
          if (event.kind == GANTRY_EVENT_WAIT && lane == GANTRY_QUEUE_COMPUTE)
            add_wait (facts->waits, gantry_recording_string (recording, event.name), &event);
          else if (event.node != 0 && event.kind != GANTRY_EVENT_WAIT)
            add_total (facts->totals, &event);
        }
    }
  return facts;
}

void
_gantry_time_facts_free (GantryTimeFacts *facts)
{
  if (facts == NULL)
    return;
  g_hash_table_unref (facts->totals);
  g_hash_table_unref (facts->waits);
  g_free (facts);
}

const GantryTimeTotal *
_gantry_time_facts_total (const GantryTimeFacts *facts, guint32 node, guint lane)
{
  return facts != NULL && node != 0 && lane < GANTRY_N_QUEUES ? g_hash_table_lookup (facts->totals, key_of (node, lane)) : NULL;
}

guint32
_gantry_time_facts_waiter (const GantryTimeFacts *facts, const GantryRecording *recording, const GantryEvent *event, gint64 *ns)
{
  const char *name = gantry_recording_string (recording, event->name);
  const GArray *list = facts != NULL && *name != '\0' ? g_hash_table_lookup (facts->waits, name) : NULL;

  /* It waited while this went on, and until it was done. */
  for (guint i = 0; list != NULL && i < list->len; i++)
    {
      const Wait *wait = &g_array_index (list, Wait, i);

      if (wait->begin <= event->end && wait->end >= event->end && wait->end <= event->end + MAX (SLACK, (wait->end - wait->begin) / 4))
        {
          *ns = wait->end - wait->begin;
          return wait->node;
        }
    }
  return 0;
}
