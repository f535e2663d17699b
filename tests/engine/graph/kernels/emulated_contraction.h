/// Runs kernels of contractions on the emulator, and compares them with the interpreter.
#pragma once

#include "analysis/raise/builder.h"
#include "engine/execution/buffer_fill.h"
#include "engine/graph/kernels/contraction_kernel.h"
#include "engine/graph/kernels/device_helpers.h"
#include "tests/analysis/raise/interpreter.h"
#include "tests/engine/emulator_fixture.h"

#include <gtest/gtest.h>
#include <spdlog/fmt/fmt.h>

#include <cmath>
#include <cstring>
#include <map>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace kernelskill::testing {

using Sizes = std::map<std::string, std::int64_t>;

/// The last computation with a reduction.
inline const analysis::raise::Computation& contractionIn(const analysis::raise::Program& program) {
    const analysis::raise::Computation* last = nullptr;
    for (const analysis::raise::Step& step : program.steps)
        if (const auto* each = std::get_if<analysis::raise::Computation>(&step))
            if (!each->reductions.empty())
                last = each;
    return *last;
}

class EmulatedContraction : public EmulatorFixture {
protected:
    using Program = analysis::raise::Program;
    using Kernel = engine::graph::Kernel;

    static std::string textOf(const Kernel& kernel) {
        std::string text = "#include <cuda_runtime.h>\n";
        for (const std::string& header : kernel.headers)
            text += fmt::format("#include <{}>\n", header);
        return text + engine::graph::helperTexts({kernel.helpers.begin(), kernel.helpers.end()}) +
               kernel.definition;
    }

    /// The largest error of what `text` writes, relative to the largest result; NaN if it cannot be
    /// told. `text` is the kernel's, perhaps changed.
    double errorOf(const Program& program, const Kernel& kernel, const std::string& text,
                   const Sizes& sizes = {}) {
        engine::Job job;
        job.wantOutputs = true;
        job.launch.kernel = kernel.name + "_kernel";
        job.launch.grid.x = static_cast<std::uint32_t>(*valueOf(kernel.blocks[0], sizes));
        job.launch.block = {static_cast<std::uint32_t>(kernel.threads[0]),
                            static_cast<std::uint32_t>(kernel.threads[1]), 1};
        job.launch.dynamicSharedBytes = kernel.sharedBytes;
        analysis::raise::Memory memory(program.buffers.size());
        analysis::raise::BufferId result = 0;
        for (const engine::graph::KernelParameter& parameter : kernel.parameters) {
            const analysis::raise::Buffer& buffer = program.buffers.at(parameter.buffer);
            const auto count = static_cast<std::size_t>(*valueOf(elementsOf(buffer.shape), sizes));
            engine::BufferSpec spec;
            spec.name = buffer.name;
            spec.elements = count;
            spec.isOutput = parameter.isWritten;
            spec.isInput = !parameter.isWritten;
            if (parameter.isWritten)
                result = parameter.buffer;
            else
                memory[parameter.buffer] = filled(spec, job.seed, count);
            job.launch.arguments.emplace_back(spec);
        }
        for (const std::string& symbol : kernel.symbols) {
            const long long value = sizes.at(symbol);
            engine::ScalarSpec scalar{symbol, {}, value, {}};
            scalar.bytes.resize(sizeof(value));
            std::memcpy(scalar.bytes.data(), &value, sizeof(value));
            job.launch.arguments.emplace_back(scalar);
        }
        const auto reference = interpret(program, memory, {.sizes = sizes});
        EXPECT_TRUE(reference) << (reference ? "" : reference.error());
        const engine::ProgramSource source = EmulatorFixture::program(text);
        const engine::KernelRef run{source, source.model->kernels.front()};
        const auto image = executor_->build(run, job.launch, {});
        EXPECT_TRUE(image) << (image ? "" : image.error().describe()) << text;
        if (!image)
            return std::nan("");
        const auto ran = executor_->run(**image, job, {});
        EXPECT_TRUE(ran) << (ran ? "" : ran.error().describe());
        if (!ran || ran->outputs.empty())
            return std::nan("");
        for (const engine::Hazard& hazard : ran->profile.hazards)
            ADD_FAILURE() << hazard.message;
        return largestError(ran->outputs.front().bytes, memory[result]);
    }

private:
    static std::vector<double> filled(const engine::BufferSpec& spec, std::uint64_t seed,
                                      std::size_t count) {
        std::vector<float> values(count);
        engine::fillBuffer(spec, engine::bufferSeed(seed, spec.name), 0,
                           std::as_writable_bytes(std::span(values)));
        return {values.begin(), values.end()};
    }

    static double largestError(const std::vector<std::byte>& bytes,
                               const std::vector<double>& expected) {
        EXPECT_EQ(bytes.size(), expected.size() * sizeof(float));
        std::vector<float> values(bytes.size() / sizeof(float));
        std::memcpy(values.data(), bytes.data(), bytes.size());
        double error = 0;
        double largest = 1e-30;
        for (std::size_t i = 0; i < expected.size(); ++i) {
            const double difference = std::abs(values.at(i) - expected[i]);
            if (std::isnan(difference))
                return difference;
            error = std::max(error, difference);
            largest = std::max(largest, std::abs(expected[i]));
        }
        return error / largest;
    }
};

} // namespace kernelskill::testing
