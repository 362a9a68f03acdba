/* SPDX-License-Identifier: Apache-2.0 */
/* All that gantry-cli prints. Names, paths and messages come from files of strangers: what a terminal would obey is shown and not sent,
 * and a line that is printed is one line whatever stands in it. */
#include "app/cli/cli.h"
#include "core/base/format.h"
#include <string.h>

/* One conversion of a format: "%-*.3f" */
typedef struct
{
  GString *text; /* with numbers for the stars */
  int precision; /* -1: none */
  guint n_long;  /* of 'l', and 2 for 'z' */
  char kind;
} Conversion;

/* The digits of a width or a precision, or the argument that a star stands for. */
static int
take_number (const char **at, va_list *arguments)
{
  int number = 0;

  if (**at == '*')
    {
      ++*at;
      return va_arg (*arguments, int);
    }
  for (; g_ascii_isdigit (**at); ++*at)
    number = number * 10 + (**at - '0');
  return number;
}

/* Returns: behind the conversion that begins at @at, behind its '%' */
static const char *
read_conversion (const char *at, Conversion *conversion, va_list *arguments)
{
  int width;

  g_string_assign (conversion->text, "%");
  conversion->precision = -1;
  conversion->n_long = 0;
  for (; *at != '\0' && strchr ("-+ #0'", *at) != NULL; at++)
    g_string_append_c (conversion->text, *at);
  width = take_number (&at, arguments);
  if (width != 0)
    g_string_append_printf (conversion->text, "%d", width);
  if (*at == '.')
    {
      at++;
      conversion->precision = take_number (&at, arguments);
    }
  for (; *at == 'l' || *at == 'z' || *at == 'h'; at++)
    conversion->n_long += *at == 'z' ? 2 : *at == 'l';
  conversion->kind = *at;
  return at + 1;
}

/* The precision of a string counts bytes of what it is, not of how it is shown. */
static void
append_string (GString *out, const Conversion *conversion, const char *text)
{
  g_autofree char *cut = text == NULL ? g_strdup ("") : conversion->precision >= 0 ? g_strndup (text, (gsize) conversion->precision) : g_strdup (text);
  g_autofree char *shown = gantry_format_text (cut, FALSE);

  g_string_append_c (conversion->text, 's');
  g_string_append_printf (out, conversion->text->str, shown);
}

static void
append_number (GString *out, const Conversion *conversion, va_list *arguments)
{
  const gboolean is_real = strchr ("eEfFgG", conversion->kind) != NULL;

  if (conversion->precision >= 0)
    g_string_append_printf (conversion->text, ".%d", conversion->precision);
  g_string_append (conversion->text, is_real || conversion->n_long == 0 ? "" : "ll");
  g_string_append_c (conversion->text, conversion->kind);
  if (is_real)
    g_string_append_printf (out, conversion->text->str, va_arg (*arguments, double));
  else if (conversion->n_long == 0)
    g_string_append_printf (out, conversion->text->str, va_arg (*arguments, int));
  else /* long, long long and size_t have 64 bits */
    g_string_append_printf (out, conversion->text->str, va_arg (*arguments, long long));
}

G_STATIC_ASSERT (sizeof (long) == sizeof (long long) && sizeof (gsize) == sizeof (long long));

static void
print_to (FILE *file, const char *format, va_list *arguments)
{
  g_autoptr (GString) out = g_string_new (NULL), text = g_string_new (NULL);
  Conversion conversion = { .text = text };

  while (*format != '\0')
    if (*format != '%' || format[1] == '%')
      {
        g_string_append_c (out, *format);
        format += *format == '%' ? 2 : 1;
      }
    else
      {
        format = read_conversion (format + 1, &conversion, arguments);
        if (conversion.kind == 's')
          append_string (out, &conversion, va_arg (*arguments, const char *));
        else
          append_number (out, &conversion, arguments);
      }
  fwrite (out->str, 1, out->len, file);
}

void
gantry_cli_print (const char *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  print_to (stdout, format, &arguments);
  va_end (arguments);
}

void
gantry_cli_tell (const char *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  print_to (stderr, format, &arguments);
  va_end (arguments);
}

void
gantry_cli_write_lines (FILE *file, const char *text)
{
  g_autofree char *shown = gantry_format_text (text, TRUE);

  fputs (shown, file);
}

/* A line that does not begin with the program's name belongs to the one before; a name with a line end in it begins none. */
char *
gantry_cli_message (const char *text)
{
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  GString *shown = g_string_new (NULL);

  for (guint i = 0; lines[i] != NULL; i++)
    {
      g_autofree char *line = gantry_format_text (lines[i], FALSE);

      g_string_append_printf (shown, "%s%s%s", i > 0 ? "\n" : "", i > 0 && *line != ' ' && *line != '\0' ? "  " : "", line);
    }
  return g_string_free (shown, FALSE);
}
