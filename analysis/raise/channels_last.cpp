#include "analysis/raise/channels_last.h"

#include <numeric>

namespace kernelskill::analysis::raise {

namespace {

std::vector<std::size_t> axesInOrder(std::size_t rank) {
    std::vector<std::size_t> axes(rank);
    std::iota(axes.begin(), axes.end(), std::size_t{0});
    return axes;
}

} // namespace

Tensor inChannelsLast(const Tensor& tensor) {
    return permuted(tensor, inChannelsLast(axesInOrder(tensor.rank())));
}

Tensor fromChannelsLast(const Tensor& tensor) {
    std::vector<std::size_t> order = axesInOrder(tensor.rank());
    std::rotate(order.begin() + 1, order.end() - 1, order.end());
    return permuted(tensor, order);
}

} // namespace kernelskill::analysis::raise
