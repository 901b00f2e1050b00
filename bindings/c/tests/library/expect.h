// What programs that hold the library to its promises share: each line that is not so is reported.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int faults;

#define EXPECT(holds) expect((holds) != 0, #holds, __LINE__)

static void expect(int holds, const char *what, int line) {
  if (holds) return;
  faults++;
  fprintf(stderr, "line %d: not so: %s\n%s\n", line, what, laneway_last_error());
  if (faults == 20) exit(1);
}

static int says(const char *word) { return strstr(laneway_last_error(), word) != NULL; }
