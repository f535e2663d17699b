/// Contents of buffers for tests that need no kernel to leave them.
#pragma once

#include "engine/execution/profile.h"

#include <span>
#include <string>
#include <vector>

namespace kernelskill::testing {

template <typename T>
engine::BufferContents bufferOf(analysis::ScalarKind kind, const std::vector<T>& values,
                                std::string name = "y") {
    engine::BufferContents buffer;
    buffer.name = std::move(name);
    buffer.element = kind;
    buffer.elementBytes = sizeof(T);
    const auto bytes = std::as_bytes(std::span(values));
    buffer.bytes.assign(bytes.begin(), bytes.end());
    return buffer;
}

inline engine::BufferContents floats(const std::vector<float>& values, std::string name = "y") {
    return bufferOf(analysis::ScalarKind::Float, values, std::move(name));
}
inline engine::BufferContents doubles(const std::vector<double>& values, std::string name = "y") {
    return bufferOf(analysis::ScalarKind::Double, values, std::move(name));
}

} // namespace kernelskill::testing
