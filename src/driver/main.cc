#include "driver/driver.h"

int main(int argc, char** argv) {
  // Everything is destroyed before the process ends, by signal or not.
  const plumb::Ending ending =
      plumb::run_driver(argc > 0 ? argv[0] : "plumb", {argv + (argc > 0 ? 1 : 0), argv + argc});
  plumb::end_as(ending);
}
