/// thrust::complex: the standard one, whose operations are constexpr or inline.
#pragma once

#include "kernelskill/language.h"

#include <sstream>

#ifndef KERNELSKILL_EMULATION
#pragma clang force_cuda_host_device begin
#endif
#include <complex>
#ifndef KERNELSKILL_EMULATION
#pragma clang force_cuda_host_device end
#endif

namespace thrust {
template <class T> using complex = std::complex<T>;
using std::abs;
using std::arg;
using std::conj;
using std::exp;
using std::norm;
using std::polar;
using std::pow;
using std::sqrt;
} // namespace thrust
