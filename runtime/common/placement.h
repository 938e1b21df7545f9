// Placement new without the C++ library's headers.
#pragma once

#include <stddef.h>

inline void* operator new(size_t, void* place) noexcept { return place; }
