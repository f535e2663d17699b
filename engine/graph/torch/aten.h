/// ATen. Files of this folder include it and no other header of torch's core.
///
/// ivalue.h comes first: of LibTorch 1.13, List.h alone makes clang in C++20 and later look into
/// std::vector<IValue> before IValue is complete.
#pragma once

#include <ATen/core/ivalue.h>
// The order matters.
#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>
