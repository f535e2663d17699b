/// Runs kernels of a test image in a worker, as the executor does.
#pragma once

#include "engine/execution/emulator/wire/wire.h"

#include <cstring>
#include <string>
#include <vector>

namespace kernelskill::engine::emulator {

/// Entry points of an image are told apart by its first argument.
template <typename T>
ScalarSpec scalar(T value) {
    ScalarSpec spec;
    spec.bytes.resize(sizeof value);
    std::memcpy(spec.bytes.data(), &value, sizeof value);
    return spec;
}

BufferSpec input(std::string name, std::uint64_t elements);
BufferSpec output(std::string name, std::uint64_t elements);
/// A buffer whose extent the run has to find.
BufferSpec unknownExtent(BufferSpec spec);

/// Kernel number `kernel` of `image` on `grid` blocks of `block` threads, profile, hazards and
/// outputs wanted.
WorkerJob jobFor(const std::string& image, int kernel, Dim3 grid, Dim3 block,
                 std::vector<ArgumentSpec> arguments);

/// Runs in a fresh worker. An error without an explanation by the worker fails the test.
WorkerReport run(const WorkerJob& job);

/// The output named `name`, as values of T.
template <typename T>
std::vector<T> valuesOf(const WorkerReport& report, const std::string& name) {
    for (const BufferContents& contents : report.outputs) {
        if (contents.name != name)
            continue;
        std::vector<T> values(contents.bytes.size() / sizeof(T));
        std::memcpy(values.data(), contents.bytes.data(), values.size() * sizeof(T));
        return values;
    }
    return {};
}

/// The first hazard of the kind; nullptr if there is none.
const HazardReport* hazardOf(const WorkerReport& report, HazardKind kind);

} // namespace kernelskill::engine::emulator
