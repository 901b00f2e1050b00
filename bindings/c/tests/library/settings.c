// Settings as a page or the header describes them: settings NAME DEFAULT,VALUE,... [NAME ...]. Each
// name is known, its default is the first value, and every value can be set. No others are known.

#define LANEWAY_WITHOUT_MPI
#include <laneway.h>

#include "expect.h"

// The value begins with what was set: it also names what is usual, as in barrier:dissemination.
static int begins(const char *name, const char *value) {
  const char *now = laneway_setting(name);
  int same = now && strncmp(now, value, strlen(value)) == 0;
  if (!same) fprintf(stderr, "%s is %s, and not %s\n", name, now ? now : "unknown", value);
  return same;
}

int main(int argc, char **argv) {
  char known[500] = "";
  for (int i = 1; i + 1 < argc; i += 2) {
    const char *name = argv[i];
    char usual[100] = "";
    strcat(strcat(known, i > 1 ? ", " : ""), name);
    EXPECT(laneway_set(name, NULL) == LANEWAY_DONE && laneway_setting(name));
    if (laneway_setting(name)) strncpy(usual, laneway_setting(name), sizeof usual - 1);
    int first = 1;
    for (char *value = strtok(argv[i + 1], ","); value; value = strtok(NULL, ",")) {
      if (first) EXPECT(begins(name, value));
      EXPECT(laneway_set(name, value) == LANEWAY_DONE && begins(name, value));
      // The first is the default, and no other is.
      EXPECT((strcmp(laneway_setting(name), usual) == 0) ==
             (first || strcmp(value, "barrier:dissemination") == 0));
      first = 0;
    }
    EXPECT(laneway_set(name, "nonsense") == LANEWAY_USAGE);
    EXPECT(laneway_set(name, NULL) == LANEWAY_DONE);
  }
  EXPECT(laneway_set("nonsense", "1") == LANEWAY_USAGE && says(known));
  EXPECT(laneway_setting("nonsense") == NULL && laneway_setting(NULL) == NULL);
  if (faults == 0) printf("settings as described: %s\n", known);
  return faults != 0;
}
