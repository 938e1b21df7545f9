#include "driver/driver.h"

int main(int argc, char** argv) {
  plumb::end_as(plumb::run_driver({argv + (argc > 0 ? 1 : 0), argv + argc}));
}
