#include "engine/graph/torch/drawn_tensors.h"

#include "engine/execution/buffer_fill.h"

#include <algorithm>
#include <limits>

namespace kernelskill::engine::graph {
namespace {

/// A number below the type's least normal one, and not zero in it.
double denormalOf(at::ScalarType type) {
    switch (type) {
    case at::kHalf:
        return 1e-6;
    case at::kDouble:
        return 1e-310;
    default: // bfloat16 has the exponents of float32.
        return 1e-40;
    }
}

double largeOf(at::ScalarType type) {
    return type == at::kHalf ? 30 : 1000; // Squares fit into float16, too.
}

/// Every other element, at random, is multiplied by `factor`.
void shrinkSome(const at::Tensor& tensor, double factor) {
    tensor.mul_(at::empty_like(tensor).bernoulli_(0.5).clamp_min_(factor));
}

void drawFloats(const at::Tensor& tensor, at::ScalarType type, const ElementRange& range,
                Distribution distribution, std::uint64_t seed) {
    const double low = double{range.shift} - range.scale;
    const double high = double{range.shift} + range.scale;
    if (range.isBound())
        tensor.uniform_(low, high);
    else
        tensor.normal_();
    switch (distribution) {
    case Distribution::Normal:
        break;
    case Distribution::Uniform:
        if (!range.isBound())
            tensor.uniform_(-1, 1);
        break;
    case Distribution::OneSign:
        if (!range.isBound())
            tensor.uniform_(0, 1).mul_(seed % 2 == 0 ? 1 : -1);
        break;
    case Distribution::LargeMagnitude:
        if (!range.isBound())
            tensor.mul_(largeOf(type));
        break;
    case Distribution::WithZeros:
        if (low <= 0)
            shrinkSome(tensor, 0);
        break;
    case Distribution::Denormals:
        if (low <= 0)
            shrinkSome(tensor, denormalOf(type));
        break;
    }
}

template <typename Draw>
void drawInto(const at::Tensor& tensor, const ElementRange& range, const Draw& floats) {
    if (tensor.numel() == 0)
        return;
    if (tensor.is_complex()) {
        drawInto(at::view_as_real(tensor), range, floats);
    } else if (!tensor.is_floating_point()) {
        constexpr std::int64_t largestByte = 127;
        const bool isByte = tensor.element_size() == 1;
        const std::int64_t bound =
            tensor.scalar_type() == at::kBool
                ? 2
                : (isByte ? std::min(range.integerBound, largestByte) : range.integerBound);
        tensor.random_(0, bound);
    } else if (tensor.scalar_type() == at::kFloat || tensor.scalar_type() == at::kDouble) {
        floats(tensor);
    } else {
        const auto wide = at::empty(tensor.sizes(), tensor.options().dtype(at::kFloat));
        floats(wide);
        tensor.copy_(wide);
    }
}

} // namespace

void drawTensor(const at::Tensor& tensor, const ElementRange& range, Distribution distribution,
                std::uint64_t seed, std::string_view name) {
    const at::NoGradGuard withoutGradients;
    at::manual_seed(bufferSeed(seed, name));
    drawInto(tensor, range, [&](const at::Tensor& floats) {
        drawFloats(floats, tensor.scalar_type(), range, distribution, seed);
    });
}

void drawWeight(const at::Tensor& tensor, const ElementRange& range, std::uint64_t seed,
                std::string_view name) {
    const at::NoGradGuard withoutGradients;
    at::manual_seed(bufferSeed(seed, name));
    drawInto(tensor, range, [&](const at::Tensor& floats) {
        floats.uniform_(double{range.shift} - range.scale, double{range.shift} + range.scale);
    });
}

} // namespace kernelskill::engine::graph
