/* SPDX-License-Identifier: Apache-2.0 */
/* Linux, Documentation/filesystems/proc.rst: status, clear_refs and smaps; dl_iterate_phdr(3) and madvise(2). */
#include "core/base/process-memory.h"
#include <fcntl.h>
#include <link.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* A line "Name:   123 kB". */
static gboolean
read_line (const char *line, const char *name, guint64 *bytes)
{
  gsize length = strlen (name);

  if (strncmp (line, name, length) != 0 || line[length] != ':')
    return FALSE;
  *bytes = g_ascii_strtoull (line + length + 1, NULL, 10) * 1024;
  return TRUE;
}

gboolean
gantry_process_memory_read (GantryProcessMemory *memory)
{
  const struct
  {
    const char *name;
    guint64 *value;
  } lines[] = {
    { "VmHWM", &memory->peak },   { "VmRSS", &memory->resident },  { "RssAnon", &memory->anonymous },
    { "RssFile", &memory->file }, { "RssShmem", &memory->shared },
  };
  char text[8192];
  int file = open ("/proc/self/status", O_RDONLY | O_CLOEXEC);
  gssize n = file >= 0 ? read (file, text, sizeof text - 1) : -1;
  guint found = 0;

  *memory = (GantryProcessMemory){ 0 };
  if (file >= 0)
    close (file);
  if (n <= 0)
    return FALSE;
  text[n] = '\0';
  for (const char *line = text; line != NULL && *line != '\0'; line = strchr (line, '\n'), line = line != NULL ? line + 1 : NULL)
    for (guint i = 0; i < G_N_ELEMENTS (lines); i++)
      found += read_line (line, lines[i].name, lines[i].value);
  if (found == G_N_ELEMENTS (lines))
    return TRUE;
  *memory = (GantryProcessMemory){ 0 };
  return FALSE;
}

gboolean
gantry_process_memory_reset_peak (void)
{
  int file = open ("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
  gboolean done = file >= 0 && write (file, "5", 1) == 1;

  if (file >= 0)
    close (file);
  return done;
}

/* Mappings. */

typedef struct
{
  char *path; /* "" for none */
  gboolean runs;
  guint64 resident;
} Mapping;

static void
mapping_clear (gpointer data)
{
  g_free (((Mapping *) data)->path);
}

/* The head of a mapping: "7f00-7f10 r-xp 00000000 08:01 123   /usr/lib/..." */
static gboolean
read_head (const char *line, Mapping *mapping)
{
  char permissions[8];
  int path = 0;

  if (sscanf (line, "%*x-%*x %7s %*s %*s %*s %n", permissions, &path) != 1 || path == 0)
    return FALSE;
  mapping->runs = strchr (permissions, 'x') != NULL;
  mapping->path = g_strchomp (g_strdup (line + path));
  mapping->resident = 0;
  return TRUE;
}

static GArray *
read_mappings (void)
{
  FILE *file = fopen ("/proc/self/smaps", "re");
  GArray *mappings = file != NULL ? g_array_new (FALSE, TRUE, sizeof (Mapping)) : NULL;
  char line[4096 + 256];
  guint64 resident;

  if (file == NULL)
    return NULL;
  g_array_set_clear_func (mappings, mapping_clear);
  while (fgets (line, sizeof line, file) != NULL)
    {
      Mapping mapping;

      if (mappings->len > 0 && read_line (line, "Rss", &resident))
        g_array_index (mappings, Mapping, mappings->len - 1).resident = resident;
      else if (g_ascii_isxdigit (line[0]) && read_head (line, &mapping))
        g_array_append_val (mappings, mapping);
    }
  fclose (file);
  return mappings;
}

gboolean
gantry_process_memory_map (GantryProcessMappings *result)
{
  g_autoptr (GArray) mappings = read_mappings ();
  g_autoptr (GHashTable) programs = g_hash_table_new (g_str_hash, g_str_equal);

  *result = (GantryProcessMappings){ 0 };
  if (mappings == NULL)
    return FALSE;
  for (guint i = 0; i < mappings->len; i++)
    if (g_array_index (mappings, Mapping, i).runs && g_array_index (mappings, Mapping, i).path[0] == '/')
      g_hash_table_add (programs, g_array_index (mappings, Mapping, i).path);
  for (guint i = 0; i < mappings->len; i++)
    {
      const Mapping *mapping = &g_array_index (mappings, Mapping, i);

      if (mapping->path[0] == '/')
        *(g_hash_table_contains (programs, mapping->path) ? &result->programs : &result->files) += mapping->resident;
      else if (mapping->path[0] == '\0' && mapping->runs)
        result->code += mapping->resident;
      else
        result->rest += mapping->resident;
    }
  /* Of a program that runs something is in memory: a list without it is none. */
  return result->programs + result->files + result->code + result->rest > 0;
}

gboolean
gantry_process_memory_code (guint64 *bytes)
{
  FILE *file = fopen ("/proc/self/maps", "re");
  char line[4096 + 256];
  GantryPageFacts facts = { 0 };
  gboolean found = FALSE;

  *bytes = 0;
  while (file != NULL && fgets (line, sizeof line, file) != NULL)
    {
      unsigned long begin, end;
      char permissions[8];
      int path = 0;

      if (sscanf (line, "%lx-%lx %7s %*s %*s %*s %n", &begin, &end, permissions, &path) != 3 || path == 0)
        continue;
      found = TRUE;
      if (strchr (permissions, 'x') != NULL && (line[path] == '\0' || line[path] == '\n'))
        *bytes += gantry_pages_count (GSIZE_TO_POINTER (begin), end - begin, &facts);
    }
  if (file != NULL)
    fclose (file);
  return found && !facts.unknown;
}

/* Whether the linker has written into segments that are not to be written. */
static gboolean
is_relocated (const struct dl_phdr_info *object)
{
  for (guint i = 0; i < object->dlpi_phnum; i++)
    if (object->dlpi_phdr[i].p_type == PT_DYNAMIC)
      for (const ElfW (Dyn) *entry = GSIZE_TO_POINTER (object->dlpi_addr + object->dlpi_phdr[i].p_vaddr); entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == DT_TEXTREL || (entry->d_tag == DT_FLAGS && (entry->d_un.d_val & DF_TEXTREL) != 0))
          return TRUE;
  return FALSE;
}

/* Segments that cannot be written are as in their file: the linker writes (and then seals) only in those that can. */
static int
drop_segments (struct dl_phdr_info *object, gsize size, gpointer data)
{
  const gsize page = (gsize) sysconf (_SC_PAGESIZE);

  if (g_str_has_prefix (object->dlpi_name, "linux-") || is_relocated (object))
    return 0;
  for (guint i = 0; i < object->dlpi_phnum; i++)
    {
      const ElfW (Phdr) *segment = &object->dlpi_phdr[i];
      gsize begin = (object->dlpi_addr + segment->p_vaddr) / page * page;
      gsize end = (object->dlpi_addr + segment->p_vaddr + segment->p_filesz) / page * page;

      if (segment->p_type == PT_LOAD && (segment->p_flags & PF_W) == 0 && end > begin)
        madvise (GSIZE_TO_POINTER (begin), end - begin, MADV_DONTNEED);
    }
  return 0;
}

void
gantry_process_memory_trim (void)
{
  dl_iterate_phdr (drop_segments, NULL);
#ifdef __GLIBC__
  /* Set, the threshold does not move any more: glibc raises it when a large block is freed. */
  mallopt (M_MMAP_THRESHOLD, 1 << 20);
  malloc_trim (0);
#endif
}

guint64
gantry_process_memory_of_machine (void)
{
  long pages = sysconf (_SC_PHYS_PAGES), bytes = sysconf (_SC_PAGESIZE);

  return pages > 0 && bytes > 0 ? (guint64) pages * (guint64) bytes : G_MAXINT64;
}
