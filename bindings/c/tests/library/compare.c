// Compares two files of measurements: slower points are counted and named, and so are points that
// one file lacks. No MPI is in this process.

#define LANEWAY_WITHOUT_MPI
#include <laneway.h>

#include "expect.h"

static char old_file[4096], new_file[4096], other_file[4096];

static void write_file(char *name, const char *folder, const char *file, const char *text) {
  FILE *out;
  snprintf(name, 4096, "%s/%s", folder, file);
  out = fopen(name, "w");
  if (out == NULL) exit(1);
  fputs(text, out);
  fclose(out);
}

int main(int argc, char **argv) {
  laneway_comparison counts = {-1, -1, -1, -1, -1, -1};
  const char *folder = argc > 1 ? argv[1] : ".";
  write_file(old_file, folder, "old.csv", "op,size_bytes,time_us\nbcast,8,10\nbcast,64,20\n");
  write_file(new_file, folder, "new.csv",
             "op,size_bytes,time_us\nbcast,8,10.1\nbcast,64,30\nbcast,512,90\n");
  write_file(other_file, folder, "other.csv", "op,size_bytes,time_us\nscatter,8,10\n");

  EXPECT(laneway_compare(old_file, new_file, 0.05, &counts) == LANEWAY_WRONG);
  EXPECT(counts.slower == 1 && counts.faster == 0 && counts.same == 1);
  EXPECT(counts.unknown == 1 && counts.only_old == 0 && counts.only_new == 1);
  EXPECT(says("1 of 3 points are slower") && says("size_bytes 64") && says("1.50 times"));

  // A file that lacks points of the other passes no gate; what both have is counted.
  EXPECT(laneway_compare(new_file, old_file, 0.05, &counts) == LANEWAY_WRONG);
  EXPECT(counts.faster == 1 && counts.only_old == 1 && says("lacks 1 point"));
  EXPECT(laneway_compare(old_file, new_file, 0.6, NULL) == LANEWAY_WRONG);

  write_file(new_file, folder, "same.csv", "op,size_bytes,time_us\nbcast,8,10.1\nbcast,64,15\n");
  EXPECT(laneway_compare(old_file, new_file, 0.05, &counts) == LANEWAY_DONE);
  EXPECT(counts.faster == 1 && counts.same == 1 && laneway_last_error()[0] == 0);

  counts.slower = -1;
  EXPECT(laneway_compare(old_file, other_file, 0.05, &counts) == LANEWAY_USAGE);
  EXPECT(says("can be compared") && counts.slower == -1);
  EXPECT(laneway_compare(old_file, "no/such/file", 0.05, &counts) == LANEWAY_ENVIRONMENT);
  EXPECT(laneway_compare(NULL, new_file, 0.05, &counts) == LANEWAY_USAGE);
  EXPECT(laneway_compare(old_file, new_file, -1, &counts) == LANEWAY_USAGE);
  EXPECT(laneway_compare(old_file, new_file, 0.0 / 0.0, &counts) == LANEWAY_USAGE);
  write_file(other_file, folder, "prose.txt", "no figures\n");
  EXPECT(laneway_compare(other_file, new_file, 0.05, &counts) == LANEWAY_USAGE);
  EXPECT(says("is not a file of measurements"));
  if (!faults) printf("comparisons as promised\n");
  return faults != 0;
}
