/// The archives of tests/engine/graph/programs with the inputs and outputs that PyTorch 2.11 gave.
#pragma once

#include "analysis/source/json.h"
#include "engine/graph/reference/contiguous_tensor.h"
#include "tests/engine/graph/program_builder.h"
#include "tests/paths.h"

#include <bit>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace kernelskill::engine::graph::testing {

struct SampleProgram {
    std::filesystem::path archive;
    std::vector<TensorData> inputs; ///< Elements of float32 or bfloat16.
    std::vector<std::int64_t> outputSizes;
    std::vector<float> output;
};

inline TensorData sampleInput(const nlohmann::json& json) {
    const auto values = json.at("values").get<std::vector<float>>();
    const auto sizes = json.at("shape").get<Sizes>();
    if (json.at("dtype") != "torch.bfloat16")
        return floats(sizes, values);
    std::vector<std::uint16_t> halves; // Every value is one of bfloat16.
    for (const float value : values)
        halves.push_back(static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16));
    return owningTensor(contiguousType(ElementType::BFloat16, sizes), bytesOf(halves));
}

/// "mlp"
inline SampleProgram sampleProgram(const std::string& name) {
    const auto folder = std::filesystem::path(paths::sourceFolder) / "tests/engine/graph/programs";
    std::ifstream stream(folder / (name + ".json"));
    const auto json = nlohmann::json::parse(stream);
    SampleProgram sample;
    sample.archive = folder / (name + ".pt2");
    for (const auto& input : json.at("inputs"))
        sample.inputs.push_back(sampleInput(input));
    json.at("output").at("shape").get_to(sample.outputSizes);
    json.at("output").at("values").get_to(sample.output);
    return sample;
}

} // namespace kernelskill::engine::graph::testing
