#include "engine/graph/torch/guarded_buffer.h"

namespace kernelskill::engine::graph {
namespace {

constexpr std::int64_t margin = 512;
constexpr int marginPattern = 0xa5;

} // namespace

GuardedBuffer::GuardedBuffer(std::int64_t bytes, c10::Device device)
    : bytes_(bytes), memory_(at::empty({margin + bytes + margin},
                                       at::TensorOptions().dtype(at::kByte).device(device))) {
    memory_.slice(0, 0, margin).fill_(marginPattern);
    memory_.slice(0, margin + bytes).fill_(marginPattern);
}

void* GuardedBuffer::data() const {
    return static_cast<char*>(memory_.data_ptr()) + margin;
}

at::Tensor GuardedBuffer::bytes() const {
    return memory_.slice(0, margin, margin + bytes_);
}

at::Tensor GuardedBuffer::as(at::IntArrayRef sizes, at::ScalarType type) const {
    if (bytes_ == 0)
        return at::empty(sizes, memory_.options().dtype(type));
    return bytes().view(type).view(sizes);
}

bool GuardedBuffer::areMarginsIntact() const {
    const auto isIntact = [](const at::Tensor& bytes) {
        return bytes.eq(marginPattern).all().item<bool>();
    };
    return isIntact(memory_.slice(0, 0, margin)) && isIntact(memory_.slice(0, margin + bytes_));
}

} // namespace kernelskill::engine::graph
