/* SPDX-License-Identifier: Apache-2.0 */
/* Where a program repeats itself. Each node is a letter (operation, attributes, types); a period is a distance at which
 * words of letters come again most often; for each of the few commonest ones the program is walked once, letter against
 * letter, and what agrees over three periods or more is a run. Its blocks begin where the fewest values cross. */
#include "core/passes/effects-private.h"
#include "core/passes/roll-private.h"
#include <string.h>

#define MOST_PERIODS 24
#define LEAST_PERIOD 4
#define LEAST_BLOCKS 3

void
_gantry_sequence_init (GantrySequence *sequence, const GantryModule *module, const GantryFunction *function)
{
  *sequence = (GantrySequence){ .module = module, .function = function };
  sequence->nodes = g_new (guint32, function->n_nodes + 1);
  sequence->places = g_new (guint32, function->n_nodes + 1);
  for (guint32 i = 0; i < function->n_nodes; i++)
    {
      guint op = module->nodes[function->first_node + i].op;

      sequence->places[i] = GANTRY_ROLL_LEAF;
      if (op == GANTRY_OP_PARAMETER || op == GANTRY_OP_CONSTANT)
        continue;
      sequence->places[i] = sequence->n;
      sequence->nodes[sequence->n++] = i;
    }
}

void
_gantry_sequence_clear (GantrySequence *sequence)
{
  g_free (sequence->nodes);
  g_free (sequence->places);
}

/* Letters */

static guint64
mix (guint64 hash, guint64 value)
{
  hash = (hash ^ value) * G_GUINT64_CONSTANT (0x9e3779b97f4a7c15);
  return hash ^ hash >> 29;
}

static guint64 *
spell (const GantrySequence *sequence)
{
  const GantryModule *module = sequence->module;
  guint64 *letters = g_new (guint64, sequence->n + 1);
  g_autoptr (GantryEffects) effects = _gantry_effects_new (module);

  for (guint32 i = 0; i < sequence->n; i++)
    {
      const GantryNode *node = _gantry_sequence_node (sequence, i);
      guint64 hash = mix (node->op, node->type);

      hash = mix (mix (mix (hash, node->attrs), node->n_operands), node->phase);
      for (guint j = 0; j < node->n_operands; j++)
        {
          const GantryNode *operand = gantry_node_operand (module, node, j);

          hash = mix (hash, operand != NULL ? operand->type : 0);
        }
      /* What has an effect is like nothing else. */
      letters[i] = (_gantry_effects_of (effects, node) & GANTRY_OP_EFFECT) != 0 ? mix (i, G_MAXUINT64) : hash;
    }
  return letters;
}

/* Periods */

static void
count_distances (const guint64 *letters, guint32 n, guint32 word, guint32 *counts)
{
  const guint64 base = G_GUINT64_CONSTANT (0xd6e8feb86659fd93);
  g_autofree guint64 *hashes = g_new (guint64, n + 1);
  g_autoptr (GHashTable) last = g_hash_table_new (g_int64_hash, g_int64_equal);
  guint64 hash = 0, power = 1;

  for (guint32 i = 0; i < n; i++)
    {
      gpointer before;

      /* Of the last @word letters, as a number in base @base modulo 2^64. */
      hash = hash * base + letters[i];
      if (i < word)
        power *= base;
      else
        hash -= power * letters[i - word];
      if (i + 1 < word)
        continue;
      hashes[i] = hash;
      before = g_hash_table_lookup (last, &hashes[i]);
      if (before != NULL)
        counts[i + 1 - GPOINTER_TO_UINT (before)]++;
      g_hash_table_replace (last, &hashes[i], GUINT_TO_POINTER (i + 1));
    }
}

typedef struct
{
  guint32 period, count;
} Candidate;

static int
compare_candidates (gconstpointer a, gconstpointer b)
{
  const Candidate *x = a, *y = b;

  if (x->count != y->count)
    return x->count > y->count ? -1 : 1;
  return x->period < y->period ? -1 : x->period > y->period;
}

/* Distances that come up often enough for three blocks, the commonest first. */
static GArray *
find_periods (const guint64 *letters, guint32 n)
{
  static const guint32 words[] = { LEAST_PERIOD, 12, 40 };
  GArray *periods = g_array_new (FALSE, FALSE, sizeof (Candidate));
  g_autofree guint32 *counts = g_new0 (guint32, (gsize) n + 1);

  for (guint i = 0; i < G_N_ELEMENTS (words); i++)
    count_distances (letters, n, words[i], counts);
  for (guint32 period = LEAST_PERIOD; period <= n / LEAST_BLOCKS; period++)
    {
      Candidate candidate = { period, counts[period] };

      if (counts[period] >= MAX (period / 4, 1))
        g_array_append_val (periods, candidate);
    }
  g_array_sort (periods, compare_candidates);
  if (periods->len > MOST_PERIODS)
    g_array_set_size (periods, MOST_PERIODS);
  return periods;
}

/* Boundaries */

/* For each place how many values are made before it and used from it on. */
static guint32 *
count_crossings (const GantrySequence *sequence)
{
  const GantryModule *module = sequence->module;
  g_autofree gint64 *steps = g_new0 (gint64, (gsize) sequence->n + 2);
  g_autofree guint32 *last = g_new (guint32, sequence->n + 1);
  guint32 *crossings = g_new (guint32, (gsize) sequence->n + 1);
  gint64 open = 0;

  for (guint32 i = 0; i < sequence->n; i++)
    last[i] = i;
  for (guint32 i = 0; i < sequence->n; i++)
    {
      const GantryNode *node = _gantry_sequence_node (sequence, i);

      for (guint j = 0; j < node->n_operands; j++)
        {
          guint32 place = _gantry_sequence_place (sequence, gantry_node_operand_id (module, node, j));

          if (place != GANTRY_ROLL_LEAF)
            last[place] = i;
        }
    }
  for (guint32 i = 0; i < sequence->n; i++)
    {
      steps[i + 1]++;
      steps[last[i] + 1]--;
    }
  for (guint32 i = 0; i <= sequence->n; i++)
    crossings[i] = (guint32) (open += steps[i]);
  return crossings;
}

/* How many parts the scopes of two neighbours have in common: few where one block ends and the next begins. */
static guint
common_parts (const GantrySequence *sequence, guint32 i)
{
  GantryContext *context = sequence->module->context;
  const char *a = gantry_context_scope_path (context, _gantry_sequence_node (sequence, i - 1)->scope);
  const char *b = gantry_context_scope_path (context, _gantry_sequence_node (sequence, i)->scope);
  guint parts = 0;

  for (; *a == *b && *a != '\0'; a++, b++)
    parts += *a == '/';
  return parts + ((*a == '\0' || *a == '/') && (*b == '\0' || *b == '/'));
}

/* The place to begin the blocks of a stretch: up to @slack later than @base. */
static guint32
best_offset (const GantrySequence *sequence, const guint32 *crossings, guint32 base, guint32 period, guint32 slack)
{
  guint32 best = 0;

  for (guint32 o = 1; o <= slack; o++)
    {
      guint32 cost = crossings[base + o + period], least = crossings[base + best + period];

      if (cost < least || (cost == least && common_parts (sequence, base + o + period) < common_parts (sequence, base + best + period)))
        best = o;
    }
  return best;
}

/* Runs */

static void
find_stretches (const GantrySequence *sequence, const guint64 *letters, const guint32 *crossings, guint32 period, GArray *runs)
{
  guint32 n = sequence->n - period;

  for (guint32 first = 0, i = 0; i <= n; i++)
    {
      guint32 agree = i - first;

      if (i < n && letters[i] == letters[i + period])
        continue;
      if (agree >= (LEAST_BLOCKS - 1) * period)
        {
          GantryRun run = { .period = period, .n_blocks = agree / period + 1 };

          run.base = first + best_offset (sequence, crossings, first, period, agree % period);
          g_array_append_val (runs, run);
        }
      first = i + 1;
    }
}

static int
compare_runs (gconstpointer a, gconstpointer b)
{
  const GantryRun *x = a, *y = b;
  guint64 m = (guint64) x->period * x->n_blocks, n = (guint64) y->period * y->n_blocks;

  if (m != n)
    return m > n ? -1 : 1;
  if (x->period != y->period)
    return x->period < y->period ? -1 : 1;
  return x->base < y->base ? -1 : x->base > y->base;
}

GArray *
_gantry_find_runs (const GantrySequence *sequence)
{
  GArray *runs = g_array_new (FALSE, FALSE, sizeof (GantryRun));
  g_autofree guint64 *letters = spell (sequence);
  g_autofree guint32 *crossings = count_crossings (sequence);
  g_autoptr (GArray) periods = find_periods (letters, sequence->n);

  for (guint i = 0; i < periods->len; i++)
    find_stretches (sequence, letters, crossings, g_array_index (periods, Candidate, i).period, runs);
  g_array_sort (runs, compare_runs);
  return runs;
}

/* Wiring */

GantryWire
_gantry_run_wire (const GantrySequence *sequence, const GantryRun *run, guint32 block, guint32 j, guint slot)
{
  guint32 begin = run->base + block * run->period;
  const GantryNode *node = _gantry_sequence_node (sequence, begin + j);
  guint32 place = _gantry_sequence_place (sequence, gantry_node_operand_id (sequence->module, node, slot));

  if (place == GANTRY_ROLL_LEAF || place < run->base)
    return (GantryWire){ .kind = GANTRY_WIRE_OUTSIDE };
  if (place >= begin)
    return (GantryWire){ .kind = GANTRY_WIRE_INSIDE, .at = place - begin };
  if (block > 0 && place >= begin - run->period)
    return (GantryWire){ .kind = GANTRY_WIRE_PREVIOUS, .at = place - (begin - run->period) };
  return (GantryWire){ .kind = GANTRY_WIRE_ELSEWHERE };
}

/* Letters agree by their hashes; that the nodes do is looked at here. */
static gboolean
same_letter (const GantrySequence *sequence, const GantryNode *a, const GantryNode *b)
{
  if (a->op != b->op || a->type != b->type || a->attrs != b->attrs || a->n_operands != b->n_operands || a->phase != b->phase)
    return FALSE;
  for (guint i = 0; i < a->n_operands; i++)
    {
      const GantryNode *x = gantry_node_operand (sequence->module, a, i), *y = gantry_node_operand (sequence->module, b, i);

      if ((x == NULL) != (y == NULL) || (x != NULL && x->type != y->type))
        return FALSE;
    }
  return TRUE;
}

/* TRUE when block @block goes on with what the blocks before it, from 0 on, do. */
static gboolean
continues (const GantrySequence *sequence, const GantryRun *run, guint32 block)
{
  for (guint32 j = 0; j < run->period; j++)
    {
      const GantryNode *node = _gantry_sequence_node (sequence, run->base + block * run->period + j);

      if (!same_letter (sequence, node, _gantry_sequence_node (sequence, run->base + j)))
        return FALSE;
      for (guint slot = 0; slot < node->n_operands; slot++)
        {
          GantryWire wire = _gantry_run_wire (sequence, run, block, j, slot);
          GantryWire model = _gantry_run_wire (sequence, run, block > 1 ? 1 : 0, j, slot);

          /* What the first block takes from outside the others may take from the block before. */
          if (block == 1 && wire.kind == GANTRY_WIRE_PREVIOUS && model.kind == GANTRY_WIRE_OUTSIDE)
            continue;
          if (wire.kind == GANTRY_WIRE_ELSEWHERE || wire.kind != model.kind || wire.at != model.at)
            return FALSE;
        }
    }
  return TRUE;
}

gboolean
_gantry_run_narrow (const GantrySequence *sequence, GantryRun *run, GantryRun *rest)
{
  GantryRun now = *run;

  while (now.n_blocks >= LEAST_BLOCKS)
    {
      guint32 n = 1;

      while (n < now.n_blocks && continues (sequence, &now, n))
        n++;
      if (n >= LEAST_BLOCKS)
        {
          *rest = (GantryRun){ now.base + n * now.period, now.period, now.n_blocks - n };
          *run = (GantryRun){ now.base, now.period, n };
          return TRUE;
        }
      now.base += now.period;
      now.n_blocks--;
    }
  return FALSE;
}
