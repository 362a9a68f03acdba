/* SPDX-License-Identifier: Apache-2.0 */
/* Reading buffer assignments and live ranges, line by line; a line may be as long as the text. */
#include "core/frontends/xla/assignment.h"
#include <string.h>

#define MOST_BYTES (G_GUINT64_CONSTANT (1) << 30)
#define MOST_VALUES 4000000u
#define MOST_NAME 4096u
#define MOST_SUM (G_GUINT64_CONSTANT (1) << 63)

typedef struct
{
  const char *name;
  const char *at, *end;    /* of the text */
  const char *line, *stop; /* the line being read */
  guint number;
} Lines;

const char *
gantry_xla_allocation_kind_name (GantryXlaAllocationKind kind)
{
  static const char *const names[] = { "argument", "output", "constant", "temporary", "thread-local", "in the host" };

  return names[kind];
}

static void
clear_value (gpointer data)
{
  g_free (((GantryXlaValue *) data)->name);
}

void
gantry_xla_assignment_free (GantryXlaAssignment *assignment)
{
  if (assignment == NULL)
    return;
  g_array_unref (assignment->allocations);
  g_array_unref (assignment->values);
  g_ptr_array_unref (assignment->steps);
  g_free (assignment->live_bytes);
  g_free (assignment);
}

/* Lines */

static gboolean
open_lines (Lines *l, const char *text, gsize length, const char *name, GError **error)
{
  text = length > 0 ? text : "";
  *l = (Lines){ .name = name, .at = text, .end = text + length };
  if (length <= MOST_BYTES)
    return TRUE;
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_TOO_LARGE, "%s: a text may have at most 1 GiB", name);
  return FALSE;
}

static gboolean
next_line (Lines *l)
{
  if (l->at >= l->end)
    return FALSE;
  l->line = l->at;
  l->stop = memchr (l->at, '\n', (gsize) (l->end - l->at));
  if (l->stop == NULL)
    l->stop = l->end;
  l->at = l->stop < l->end ? l->stop + 1 : l->end;
  l->number++;
  return TRUE;
}

static gboolean G_GNUC_PRINTF (3, 4) fail (const Lines *l, GError **error, const char *format, ...)
{
  g_autofree char *what = NULL;
  va_list args;

  va_start (args, format);
  what = g_strdup_vprintf (format, args);
  va_end (args);
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "%s:%u: %s", l->name, l->number, what);
  return FALSE;
}

static gboolean
accept (Lines *l, const char *token)
{
  gsize n = strlen (token);

  if ((gsize) (l->stop - l->line) < n || memcmp (l->line, token, n) != 0)
    return FALSE;
  l->line += n;
  return TRUE;
}

static gboolean
accept_number (Lines *l, guint64 *number)
{
  const char *begin = l->line;

  *number = 0;
  for (; l->line < l->stop && g_ascii_isdigit (*l->line); l->line++)
    {
      guint digit = (guint) (*l->line - '0');

      if (*number > (G_MAXUINT64 - digit) / 10)
        return FALSE;
      *number = *number * 10 + digit;
    }
  return l->line > begin;
}

static gboolean
has (const Lines *l, const char *token)
{
  return g_strstr_len (l->line, l->stop - l->line, token) != NULL;
}

/* Allocations and values */

/* "allocation 21: size 640, color 5, preallocated-temp:" */
static gboolean
read_allocation (Lines *l, GantryXlaAssignment *assignment, GError **error)
{
  GantryXlaAllocation allocation = { .first_value = assignment->values->len, .kind = GANTRY_XLA_ALLOCATION_TEMPORARY };
  guint64 number, color = 0;

  if (!accept_number (l, &number) || number > G_MAXUINT || !accept (l, ": size ") || !accept_number (l, &allocation.size))
    return fail (l, error, "expected the number of an allocation and its size in bytes");
  if (accept (l, ", color ") && (!accept_number (l, &color) || color > G_MAXUINT))
    return fail (l, error, "expected the number of a memory space");
  if (allocation.size > MOST_SUM - assignment->total_bytes - assignment->bytes[GANTRY_XLA_ALLOCATION_HOST])
    return fail (l, error, "the allocations have more than 2^63 bytes together");
  allocation.number = (guint) number;
  allocation.color = (guint) color;
  if (color == GANTRY_XLA_HOST_COLOR)
    allocation.kind = GANTRY_XLA_ALLOCATION_HOST;
  else if (has (l, ", thread-local"))
    allocation.kind = GANTRY_XLA_ALLOCATION_THREAD_LOCAL;
  else if (has (l, ", parameter "))
    allocation.kind = GANTRY_XLA_ALLOCATION_ARGUMENT;
  else if (has (l, ", constant"))
    allocation.kind = GANTRY_XLA_ALLOCATION_CONSTANT;
  else if (has (l, "maybe-live-out"))
    allocation.kind = GANTRY_XLA_ALLOCATION_OUTPUT;
  assignment->total_bytes += allocation.kind != GANTRY_XLA_ALLOCATION_HOST ? allocation.size : 0;
  assignment->bytes[allocation.kind] += allocation.size;
  g_array_append_val (assignment->allocations, allocation);
  return TRUE;
}

/* "<119 while.12{0} (phi) @0>". (transfer full) (nullable): "while.12{0}" */
static char *
read_value_name (Lines *l)
{
  guint64 id;
  const char *begin;

  if (!accept (l, "<") || !accept_number (l, &id) || !accept (l, " "))
    return NULL;
  begin = l->line;
  while (l->line < l->stop && *l->line != ' ' && *l->line != '>')
    l->line++;
  if (l->line == begin || l->line - begin > (gssize) MOST_NAME)
    return NULL;
  return l->line[-1] == '}' ? g_strndup (begin, (gsize) (l->line - begin)) : g_strdup_printf ("%.*s{}", (int) (l->line - begin), begin);
}

static gboolean
read_value (Lines *l, GantryXlaAssignment *assignment, GError **error)
{
  GantryXlaAllocation *allocation = assignment->allocations->len > 0
                                      ? &g_array_index (assignment->allocations, GantryXlaAllocation, assignment->allocations->len - 1)
                                      : NULL;
  GantryXlaValue value = { NULL };
  g_autofree char *name = read_value_name (l);
  const char *place = g_strstr_len (l->line, l->stop - l->line, "(size=");

  if (name == NULL || place == NULL)
    return fail (l, error, "expected a value as <NUMBER NAME @SPACE> (size=BYTES,offset=BYTES)");
  l->line = place;
  if (!accept (l, "(size=") || !accept_number (l, &value.size) || !accept (l, ",offset=") || !accept_number (l, &value.offset))
    return fail (l, error, "expected the size and the offset of a value in bytes");
  if (allocation == NULL)
    return fail (l, error, "a value stands before the first allocation");
  if (value.offset > allocation->size || value.size > allocation->size - value.offset)
    return fail (l, error, "the value %.64s does not lie in its allocation of %" G_GUINT64_FORMAT " bytes", name, allocation->size);
  if (assignment->values->len >= MOST_VALUES)
    return fail (l, error, "there are more than %u values", MOST_VALUES);
  value.name = g_utf8_make_valid (name, -1);
  g_array_append_val (assignment->values, value);
  allocation->n_values++;
  return TRUE;
}

GantryXlaAssignment *
gantry_xla_assignment_parse (const char *text, gsize length, const char *name, GError **error)
{
  g_autoptr (GantryXlaAssignment) assignment = g_new0 (GantryXlaAssignment, 1);
  Lines l;

  assignment->allocations = g_array_new (FALSE, FALSE, sizeof (GantryXlaAllocation));
  assignment->values = g_array_new (FALSE, FALSE, sizeof (GantryXlaValue));
  g_array_set_clear_func (assignment->values, clear_value);
  assignment->steps = g_ptr_array_new_with_free_func (g_free);
  if (!open_lines (&l, text, length, name, error))
    return NULL;
  while (next_line (&l) && !accept (&l, "Used values:"))
    if ((accept (&l, "allocation ") && !read_allocation (&l, assignment, error)) || (accept (&l, " value: ") && !read_value (&l, assignment, error)))
      return NULL;
  if (assignment->allocations->len > 0)
    return g_steal_pointer (&assignment);
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "%s: no allocation stands in it", name);
  return NULL;
}

/* Live ranges */

/* "    17:arg_tuple.1", in their order */
static gboolean
read_step (Lines *l, GPtrArray *steps, GError **error)
{
  guint64 number;

  if (!accept_number (l, &number) || !accept (l, ":") || number != steps->len)
    return fail (l, error, "expected %u: and the instruction of that step", steps->len);
  if (steps->len >= MOST_VALUES)
    return fail (l, error, "there are more than %u steps", MOST_VALUES);
  g_ptr_array_add (steps, g_utf8_make_valid (l->line, MIN (l->stop - l->line, (gssize) MOST_NAME)));
  return TRUE;
}

/* "    while.12{2}:33-58" */
static gboolean
read_range (Lines *l, GHashTable *ranges, guint n_steps, GError **error)
{
  const char *colon = l->stop;
  g_autofree char *name = NULL;
  guint64 begin, end, range;

  while (colon > l->line && *--colon != ':')
    ;
  name = g_utf8_make_valid (l->line, MIN (colon - l->line, (gssize) MOST_NAME));
  l->line = colon;
  if (!accept (l, ":") || !accept_number (l, &begin) || !accept (l, "-") || !accept_number (l, &end) || begin > end || end > n_steps)
    return fail (l, error, "expected a value and the steps from 0 to %u at which it is alive, as NAME{}:3-7", n_steps);
  range = begin << 32 | end;
  g_hash_table_insert (ranges, g_steal_pointer (&name), g_memdup2 (&range, sizeof range));
  return TRUE;
}

static gboolean
read_ranges (Lines *l, GPtrArray *steps, GHashTable *ranges, GError **error)
{
  enum
  {
    NONE,
    SEQUENCE,
    RANGES
  } section = NONE;

  while (next_line (l))
    {
      if (accept (l, "  InstructionSequence:"))
        section = SEQUENCE;
      else if (accept (l, "  BufferLiveRange:"))
        section = RANGES;
      else if (!accept (l, "    "))
        section = NONE;
      else if ((section == SEQUENCE && !read_step (l, steps, error)) || (section == RANGES && !read_range (l, ranges, steps->len, error)))
        return FALSE;
    }
  if (steps->len > 0)
    return TRUE;
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "%s: no sequence of instructions stands in it", l->name);
  return FALSE;
}

static int
compare_places (gconstpointer a, gconstpointer b)
{
  const GantryXlaValue *x = *(GantryXlaValue *const *) a, *y = *(GantryXlaValue *const *) b;

  if (x->offset != y->offset)
    return x->offset < y->offset ? -1 : 1;
  if (x->size != y->size)
    return x->size < y->size ? -1 : 1;
  return x->begin != y->begin ? (x->begin < y->begin ? -1 : 1) : 0;
}

/* From @step on so many bytes more, or less. */
typedef struct
{
  guint32 step;
  gint64 bytes;
} Change;

static int
compare_changes (gconstpointer a, gconstpointer b)
{
  const Change *x = a, *y = b;

  return x->step != y->step ? (x->step < y->step ? -1 : 1) : 0;
}

/* When the places of an allocation are taken: values in one place, one after another or at once, take it once. */
static void
list_changes (GantryXlaAssignment *assignment, const GantryXlaAllocation *allocation, GArray *changes)
{
  g_autoptr (GPtrArray) order = g_ptr_array_new ();
  const GantryXlaValue *last = NULL;
  guint32 end = 0; /* behind the last step at which the place is taken */

  for (guint i = 0; i < allocation->n_values; i++)
    {
      GantryXlaValue *value = &g_array_index (assignment->values, GantryXlaValue, allocation->first_value + i);

      if (value->timed)
        g_ptr_array_add (order, value);
    }
  g_ptr_array_sort (order, compare_places);
  for (guint i = 0; i < order->len; i++)
    {
      const GantryXlaValue *value = g_ptr_array_index (order, i);
      gboolean same = last != NULL && last->offset == value->offset && last->size == value->size;
      Change from = { same ? MAX (value->begin, end) : value->begin, (gint64) value->size };
      Change to = { MIN (value->end, assignment->steps->len - 1) + 1, -(gint64) value->size };

      if (from.step < to.step)
        {
          g_array_append_val (changes, from);
          g_array_append_val (changes, to);
        }
      end = same ? MAX (end, to.step) : to.step;
      last = value;
    }
  g_array_sort (changes, compare_changes);
}

static void
make_curve (GantryXlaAssignment *assignment)
{
  guint n = assignment->steps->len;
  g_autofree guint64 *sum = g_new0 (guint64, n + 1); /* differences, modulo 2^64 */
  g_autoptr (GArray) changes = g_array_new (FALSE, FALSE, sizeof (Change));
  guint64 live = assignment->bytes[GANTRY_XLA_ALLOCATION_ARGUMENT] + assignment->bytes[GANTRY_XLA_ALLOCATION_CONSTANT];

  for (guint i = 0; i < assignment->allocations->len; i++)
    {
      const GantryXlaAllocation *allocation = &g_array_index (assignment->allocations, GantryXlaAllocation, i);
      guint64 all = 0;

      if (allocation->kind != GANTRY_XLA_ALLOCATION_TEMPORARY && allocation->kind != GANTRY_XLA_ALLOCATION_OUTPUT)
        continue;
      g_array_set_size (changes, 0);
      list_changes (assignment, allocation, changes);
      for (guint j = 0; j < changes->len; j++)
        {
          const Change *change = &g_array_index (changes, Change, j);
          guint64 before = MIN (all, allocation->size);

          all += (guint64) change->bytes;
          sum[change->step] += MIN (all, allocation->size) - before;
        }
    }
  assignment->live_bytes = g_new (guint64, n);
  assignment->peak_step = 0;
  for (guint s = 0; s < n; s++)
    {
      live += sum[s];
      assignment->live_bytes[s] = live;
      if (live > assignment->live_bytes[assignment->peak_step])
        assignment->peak_step = s;
    }
}

gboolean
gantry_xla_assignment_read_live_ranges (GantryXlaAssignment *assignment, const char *text, gsize length, const char *name, GError **error)
{
  g_autoptr (GPtrArray) steps = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GHashTable) ranges = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  Lines l;

  if (!open_lines (&l, text, length, name, error) || !read_ranges (&l, steps, ranges, error))
    return FALSE;
  for (guint i = 0; i < assignment->values->len; i++)
    {
      GantryXlaValue *value = &g_array_index (assignment->values, GantryXlaValue, i);
      const guint64 *range = g_hash_table_lookup (ranges, value->name);

      value->timed = range != NULL;
      value->begin = range != NULL ? (guint32) (*range >> 32) : 0;
      value->end = range != NULL ? (guint32) *range : 0;
    }
  g_ptr_array_unref (assignment->steps);
  assignment->steps = g_steal_pointer (&steps);
  g_clear_pointer (&assignment->live_bytes, g_free);
  make_curve (assignment);
  return TRUE;
}
