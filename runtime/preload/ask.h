// Reports while the program runs.
#pragma once

namespace plumb::rt {

void prepare_questions();

}  // namespace plumb::rt
