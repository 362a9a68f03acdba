/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of bytes as people write them. A decimal fraction is multiplied as the integers that it is made of. */
#include "core/base/bytes-text.h"
#include <string.h>

#define MOST_BYTES (G_GUINT64_CONSTANT (1) << 60)
#define MOST_DIGITS 19 /* of a number: what follows them is too large, or less than any unit shows */

/* @digits times ten to the @power. */
typedef struct
{
  guint64 digits;
  int power;
} Decimal;

static const char *
read_exponent (const char *p, int *power)
{
  gboolean negative = p[1] == '-';
  const char *digit = p + 1 + (p[1] == '-' || p[1] == '+');
  int exponent = 0;

  if (!g_ascii_isdigit (*digit))
    return p;
  for (; g_ascii_isdigit (*digit); digit++)
    exponent = MIN (exponent * 10 + (*digit - '0'), 10000);
  *power += negative ? -exponent : exponent;
  return digit;
}

/* Returns: behind the number; (nullable): there is none */
static const char *
read_decimal (const char *p, Decimal *decimal)
{
  gboolean fraction = FALSE, any = FALSE;
  int n = 0;

  *decimal = (Decimal){ 0 };
  for (; g_ascii_isdigit (*p) || (*p == '.' && !fraction); p++)
    {
      if (*p == '.')
        {
          fraction = TRUE;
          continue;
        }
      any = TRUE;
      if (n < MOST_DIGITS)
        decimal->digits = decimal->digits * 10 + (guint64) (*p - '0');
      decimal->power += (n >= MOST_DIGITS) - fraction;
      n += decimal->digits > 0;
    }
  if (!any)
    return NULL;
  return *p == 'e' || *p == 'E' ? read_exponent (p, &decimal->power) : p;
}

/* The number of bytes that "", "K", "MiB" or "gb" stand for, 0: none. */
static guint64
unit_bytes (const char *text)
{
  static const char letters[] = "KMGT";
  const char *letter = *text != '\0' ? strchr (letters, g_ascii_toupper (*text)) : NULL;
  guint64 base = 1024, unit = 1;

  if (letter != NULL)
    {
      text++;
      if (g_ascii_strcasecmp (text, "B") == 0)
        base = 1000;
      else if (*text != '\0' && g_ascii_strcasecmp (text, "iB") != 0)
        return 0;
      for (const char *l = letters; l <= letter; l++)
        unit *= base;
      return unit;
    }
  return *text == '\0' || g_ascii_strcasecmp (text, "B") == 0 ? 1 : 0;
}

gboolean
gantry_bytes_parse (const char *text, guint64 *bytes)
{
  g_autofree char *word = g_strstrip (g_strdup (text));
  Decimal decimal;
  const char *end = read_decimal (word, &decimal);
  unsigned __int128 value;

  if (end == NULL)
    return FALSE;
  while (g_ascii_isspace (*end))
    end++;
  value = (unsigned __int128) decimal.digits * unit_bytes (end);
  if (unit_bytes (end) == 0)
    return FALSE;
  for (; decimal.power < 0 && value > 0; decimal.power++)
    value /= 10;
  for (; decimal.power > 0 && value > 0 && value < MOST_BYTES; decimal.power--)
    value *= 10;
  *bytes = (guint64) value;
  return value < MOST_BYTES;
}
