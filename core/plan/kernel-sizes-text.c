/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes of kernels as text: one line for each fact, then one for each kernel that needs anything, then a checksum of those before:
 * a table that lost its end, or a digit, would be believed otherwise. */
#include "core/base/error.h"
#include "core/plan/kernel-sizes.h"
#include <string.h>

#define FIRST_LINE "gantry kernel sizes 4"
#define AT_LEAST "at least "
#define CHECKSUM "sha256 "
#define MOST_BYTES (G_GUINT64_CONSTANT (1) << 60)
#define MOST_TEXT (256u * 1024 * 1024)

void
gantry_kernel_sizes_append_checksum (GString *text)
{
  g_autofree char *checksum = g_compute_checksum_for_data (G_CHECKSUM_SHA256, (const guint8 *) text->str, text->len);

  g_string_append_printf (text, CHECKSUM "%s\n", checksum);
}

/* Cuts the last line off, which has to be the checksum of the text before. */
static gboolean
take_checksum (char *text)
{
  char *last = g_strrstr (text, "\n" CHECKSUM);
  g_autoptr (GString) whole = NULL;
  gsize length;

  if (last == NULL)
    return FALSE;
  length = (gsize) (last + 1 - text);
  whole = g_string_new_len (text, (gssize) length);
  gantry_kernel_sizes_append_checksum (whole);
  if (strcmp (whole->str, text) != 0)
    return FALSE;
  text[length] = '\0';
  return TRUE;
}

char *
gantry_kernel_sizes_to_text (const GantryKernelSizes *sizes)
{
  GString *text = g_string_new (FIRST_LINE "\n");

  g_string_append_printf (text, "program %s\ntarget %s\nconditions %s\narch %s\ncode %s%" G_GUINT64_FORMAT "\n", sizes->program != NULL ? sizes->program : "",
                          sizes->target != NULL ? sizes->target : "", sizes->conditions != NULL ? sizes->conditions : "",
                          sizes->arch != NULL ? sizes->arch : "", sizes->at_least ? AT_LEAST : "", sizes->code_bytes);
  for (guint i = 0; i < sizes->entries->len; i++)
    {
      const GantryKernelSize *entry = &g_array_index (sizes->entries, GantryKernelSize, i);

      g_string_append_printf (text, "%" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT "\n", entry->position, entry->workspace_bytes,
                              entry->packed_bytes);
    }
  gantry_kernel_sizes_append_checksum (text);
  return g_string_free (text, FALSE);
}

/* The next number of a line. Returns: FALSE where there is none, or it is above @most */
static gboolean
read_number (const char **at, guint64 most, guint64 *number)
{
  char *end;

  if (!g_ascii_isdigit (**at))
    return FALSE;
  *number = g_ascii_strtoull (*at, &end, 10);
  *at = end + strspn (end, " ");
  return *number <= most;
}

/* A line that says a fact. Returns: FALSE where it is none */
static gboolean
read_fact (GantryKernelSizes *sizes, const char *line)
{
  const struct
  {
    const char *key;
    char **value;
  } texts[] = { { "program ", &sizes->program }, { "target ", &sizes->target }, { "conditions ", &sizes->conditions }, { "arch ", &sizes->arch } };

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    if (g_str_has_prefix (line, texts[i].key))
      {
        const char *value = line + strlen (texts[i].key);

        g_free (*texts[i].value);
        *texts[i].value = *value != '\0' ? g_strdup (value) : NULL;
        return TRUE;
      }
  if (!g_str_has_prefix (line, "code "))
    return FALSE;
  line += strlen ("code ");
  sizes->at_least = g_str_has_prefix (line, AT_LEAST);
  line += sizes->at_least ? strlen (AT_LEAST) : 0;
  return read_number (&line, MOST_BYTES, &sizes->code_bytes) && *line == '\0';
}

static gboolean
read_entry (GantryKernelSizes *sizes, const char *line)
{
  guint64 position, workspace, packed;
  const GArray *entries = sizes->entries;

  if (!read_number (&line, G_MAXUINT32 - 1, &position) || !read_number (&line, MOST_BYTES, &workspace) || !read_number (&line, MOST_BYTES, &packed)
      || *line != '\0' || (entries->len > 0 && g_array_index (entries, GantryKernelSize, entries->len - 1).position >= position))
    return FALSE;
  gantry_kernel_sizes_add (sizes, (guint32) position, workspace, packed);
  return TRUE;
}

GantryKernelSizes *
gantry_kernel_sizes_parse (const char *text, GError **error)
{
  g_autoptr (GantryKernelSizes) sizes = gantry_kernel_sizes_new (NULL, NULL);
  g_autofree char *checked = strlen (text) <= MOST_TEXT ? g_strdup (text) : NULL;
  g_auto (GStrv) lines = NULL;

  if (checked != NULL && g_str_has_prefix (text, FIRST_LINE) && !take_checksum (checked))
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID,
                   "the table of kernel sizes is damaged: its last line is not the checksum "
                   "of what stands before");
      return NULL;
    }
  if (checked != NULL && g_utf8_validate (checked, -1, NULL))
    lines = g_strsplit (checked, "\n", -1);
  if (lines == NULL || lines[0] == NULL || strcmp (lines[0], FIRST_LINE) != 0)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "no table of kernel sizes: its first line is not '" FIRST_LINE "'");
      return NULL;
    }
  for (guint i = 1; lines[i] != NULL; i++)
    if (*lines[i] != '\0' && !read_fact (sizes, lines[i]) && !read_entry (sizes, lines[i]))
      {
        g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID,
                     "table of kernel sizes, line %u: it is neither a fact nor the place "
                     "of a kernel above those before, with two sizes",
                     i + 1);
        return NULL;
      }
  return g_steal_pointer (&sizes);
}
