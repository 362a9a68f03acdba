/* SPDX-License-Identifier: Apache-2.0 */
/* A libcuda that only starts, or fails to with the number in FAKE_CUDA_INIT. */
#include <stdlib.h>

int cuInit (unsigned flags);
int cuGetErrorString (int error, const char **text);

int
cuInit (unsigned flags)
{
  const char *code = getenv ("FAKE_CUDA_INIT");

  return code != NULL ? atoi (code) : 0;
}

int
cuGetErrorString (int error, const char **text)
{
  *text = error == 100 ? "no CUDA-capable device is detected" : "made up";
  return 0;
}
