#include "engine/graph/tensor_payload.h"

#include "analysis/source/json.h"
#include "analysis/source/try.h"
#include "engine/graph/json_text.h"
#include "engine/graph/saved_tensors.h"
#include "engine/graph/tensor_extents.h"
#include "engine/graph/tensor_json.h"
#include "engine/graph/type_text.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <utility>

namespace kernelskill::engine::graph {

using nlohmann::json;

namespace {

constexpr std::uint64_t maxConfigBytes = std::uint64_t{64} << 20;

class PayloadReader {
public:
    PayloadReader(Archive& archive, Program& program) : archive_(archive), program_(program) {}

    Result<void> readConfigs(const PayloadNames::Config& config) {
        const auto entry = std::ranges::find_if(
            config.entries, [&](const std::string& name) { return archive_.holds(name); });
        if (entry == config.entries.end())
            return {};
        const std::string where = archive_.name() + ", entry " + *entry;
        KERNELSKILL_TRY(const SharedBytes text, archive_.checkedData(*entry, maxConfigBytes));
        KERNELSKILL_TRY(const json document, parseJson(graph::textOf(text), where));
        KERNELSKILL_TRY(const json* const tensors, requiredObject(document, "config", where));
        for (const auto& [name, payload] : tensors->items())
            KERNELSKILL_CHECK(readEntry(name, payload, config.folder,
                                        fmt::format("{}, tensor '{}'", where, name)));
        return {};
    }

    Result<void> readSaved(const std::string& entry) {
        if (!archive_.holds(entry))
            return {};
        const std::string where = archive_.name() + ", entry " + entry;
        KERNELSKILL_TRY(SharedBytes file, archive_.data(entry));
        KERNELSKILL_TRY(SavedTensors saved, readSavedTensors(std::move(file), where));
        for (auto& [name, tensor] : saved.tensors)
            KERNELSKILL_CHECK(
                keep(name, std::move(tensor), fmt::format("{}, tensor '{}'", where, name)));
        return {};
    }

    void readSampleInputs(const std::string& entry) {
        if (!archive_.holds(entry))
            return;
        auto saved = trySampleInputs(entry);
        if (!saved) {
            program_.notes.push_back("the sample inputs are left out: " + saved.error().what);
            return;
        }
        for (auto& [name, tensor] : saved->tensors)
            program_.sampleInputs.push_back(std::move(tensor));
    }

    void noteMissing() {
        std::size_t missing = 0;
        for (const auto& [name, tensor] : program_.tensors)
            missing += tensor.owner == nullptr && elementCount(tensor.type) != 0 ? 1 : 0;
        if (missing > 0)
            program_.notes.push_back(
                fmt::format("{} of {} parameters, buffers and constants have no data: the archive "
                            "does not hold them",
                            missing, program_.tensors.size()));
    }

private:
    /// One tensor of a config: {"path_name": "weight_0", "use_pickle": false, "tensor_meta": …}.
    Result<void> readEntry(const std::string& name, const json& payload, const std::string& folder,
                           const std::string& where) {
        KERNELSKILL_TRY(const std::string path, requiredText(payload, "path_name", where));
        const json* const meta = member(payload, "tensor_meta");
        const json* const isPickled = member(payload, "use_pickle");
        if (meta == nullptr || (isPickled != nullptr && *isPickled == true)) {
            program_.notes.push_back(
                fmt::format("'{}' is left out: it is pickled, so it is no plain tensor", name));
            return {};
        }
        TensorData tensor;
        SymbolRanges symbols;
        KERNELSKILL_TRY(tensor.type, readTensorType(*meta, where, symbols));
        KERNELSKILL_TRY(SharedBytes data, archive_.data(folder + path));
        // torch writes an empty entry for a tensor that was exported without data.
        if (data.bytes.empty() && elementCount(tensor.type) != 0)
            return {};
        tensor.bytes = data.bytes;
        tensor.owner = std::move(data.owner);
        if (const std::string problem = storageProblem(tensor.type, tensor.bytes.size());
            !problem.empty())
            return malformed(fmt::format("the tensor {}", problem), where);
        return keep(name, std::move(tensor), where);
    }

    /// Tensors that no input is are not of the program.
    Result<void> keep(const std::string& name, TensorData tensor, const std::string& where) {
        const auto known = program_.tensors.find(name);
        if (known == program_.tensors.end())
            return {};
        if (!agrees(known->second.type, tensor.type))
            return malformed(fmt::format("the archive holds {}, where the graph has {}",
                                         textOf(tensor.type), textOf(known->second.type)),
                             where);
        known->second = std::move(tensor);
        return {};
    }

    Result<SavedTensors> trySampleInputs(const std::string& entry) {
        const std::string where = archive_.name() + ", entry " + entry;
        KERNELSKILL_TRY(SharedBytes file, archive_.data(entry));
        KERNELSKILL_TRY(SavedTensors saved, readSavedTensors(std::move(file), where));
        std::size_t at = 0;
        for (const Input& input : program_.inputs) {
            const auto type = program_.values.find(input.value);
            if (input.kind != Input::Kind::User || type == program_.values.end())
                continue;
            if (at < saved.tensors.size() && !agrees(type->second, saved.tensors[at].second.type))
                return malformed(fmt::format("that of '{}' is {}, where the graph has {}",
                                             input.value, textOf(saved.tensors[at].second.type),
                                             textOf(type->second)),
                                 where);
            ++at;
        }
        if (at != saved.tensors.size() && !saved.tensors.empty())
            return malformed(
                fmt::format("there are {} of them for {} inputs", saved.tensors.size(), at), where);
        return saved;
    }

    /// Whether a tensor of type `given` can be where the graph has `type`; strides may differ.
    static bool agrees(const TensorType& type, const TensorType& given) {
        return type.element == given.element &&
               std::ranges::equal(type.sizes, given.sizes, [](const Extent& a, const Extent& b) {
                   return a.isDynamic() || a.value == b.value;
               });
    }

    Archive& archive_;
    Program& program_;
};

} // namespace

Result<void> readPayload(Archive& archive, const PayloadNames& names, Program& program) {
    PayloadReader reader(archive, program);
    for (const PayloadNames::Config& config : names.configs)
        KERNELSKILL_CHECK(reader.readConfigs(config));
    for (const std::string& entry : names.saved)
        KERNELSKILL_CHECK(reader.readSaved(entry));
    reader.readSampleInputs(names.sampleInputs);
    reader.noteMissing();
    return {};
}

} // namespace kernelskill::engine::graph
