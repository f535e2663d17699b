#include "engine/graph/torch/part_model.h"

#include "engine/graph/torch/device_streams.h"
#include "engine/graph/torch/guarded_buffer.h"

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

namespace kernelskill::engine::graph {
namespace {

/// Models take memory that vectors fit into; so does LibTorch's allocator, but not every view.
constexpr std::uintptr_t alignment = 64;

/// The tensor as a model takes it; a copy where it has gaps or is not aligned.
at::Tensor given(const at::Tensor& tensor) {
    const at::Tensor whole = tensor.resolve_conj().resolve_neg().contiguous();
    const bool isAligned = reinterpret_cast<std::uintptr_t>(whole.data_ptr()) % alignment == 0;
    return isAligned ? whole : whole.clone();
}

Result<std::vector<at::Tensor>> tensorsOf(const std::vector<std::string>& names,
                                          const Values& values) {
    std::vector<at::Tensor> tensors;
    for (const std::string& name : names) {
        const auto value = values.find(name);
        if (value == values.end() || !value->second.isTensor())
            return std::unexpected(Error{
                ErrorKind::Failed, "nothing computed " + name + ", which a part reads", {}, {}});
        tensors.push_back(given(value->second.toTensor()));
    }
    return tensors;
}

std::vector<const void*> pointersTo(const std::vector<at::Tensor>& tensors) {
    std::vector<const void*> pointers;
    for (const at::Tensor& tensor : tensors)
        pointers.push_back(tensor.data_ptr());
    return pointers;
}

at::Tensor poisonedBytes(std::size_t bytes, c10::Device device) {
    return at::full({static_cast<std::int64_t>(bytes)}, poison,
                    at::TensorOptions().dtype(at::kByte).device(device));
}

} // namespace

Result<std::unique_ptr<PartModel>> PartModel::load(const std::shared_ptr<const Program>& whole,
                                                   const PartLibrary& library,
                                                   const TorchSubject& subject) {
    std::shared_ptr<const Program> program = whole;
    std::map<std::string, std::string> names; // The whole's by the part's.
    if (library.part) {
        auto part = namedPart(*whole, *library.part);
        if (!part)
            return std::unexpected(part.error());
        for (const auto& [name, ofPart] : part->names)
            names[ofPart] = name;
        program = std::make_shared<const Program>(std::move(part->program));
    }
    auto candidate = Candidate::load(library.library);
    if (!candidate)
        return std::unexpected(candidate.error());
    auto prepared = PreparedProgram::prepareAsWritten(program, subject);
    if (!prepared)
        return std::unexpected(prepared.error());
    auto tensors = TrialTensors::ofExported(*program);
    if (!tensors)
        return std::unexpected(tensors.error());
    std::unique_ptr<PartModel> model(
        new PartModel(*candidate, std::move(*prepared), std::move(*tensors)));
    const auto namesOf = [&](const std::vector<TrialTensor>& all) {
        std::vector<std::string> list;
        for (const TrialTensor& tensor : all)
            list.push_back(library.part ? names.at(tensor.name) : tensor.name);
        return list;
    };
    model->weights_ = namesOf(model->tensors_.weights);
    model->reads_ = namesOf(model->tensors_.inputs);
    model->makes_ = namesOf(model->tensors_.outputs);
    return model;
}

Result<void> PartModel::prepare(const Values& values, const c10::Stream& stream) {
    auto weights = tensorsOf(weights_, values);
    if (!weights)
        return std::unexpected(weights.error());
    weightTensors_ = std::move(*weights);
    prepared_ = poisonedBytes(candidate_.preparedBytes(), program_.place().device);
    return successOf(
        candidate_.prepare(pointersTo(weightTensors_), prepared_.data_ptr(), handleOf(stream)),
        "prepare");
}

Result<void> PartModel::run(Values& values, const c10::Stream& stream) {
    const c10::Device device = program_.place().device;
    auto inputs = tensorsOf(reads_, values);
    if (!inputs)
        return std::unexpected(inputs.error());
    std::vector<at::Tensor> outputs;
    std::vector<void*> results;
    for (const TrialTensor& output : tensors_.outputs) {
        const at::Tensor bytes = poisonedBytes(static_cast<std::size_t>(output.bytes()), device);
        outputs.push_back(bytes.view(output.type).view(output.sizes));
        results.push_back(bytes.data_ptr());
    }
    const at::Tensor workspace = poisonedBytes(candidate_.workspaceBytes(tensors_.sizes), device);
    const KernelskillLibrary table = library_.table();
    useTf32(program_.allowsTf32());
    const int status =
        candidate_.forward(pointersTo(weightTensors_), prepared_.data_ptr(), pointersTo(*inputs),
                           results, workspace.data_ptr(), tensors_.sizes, table, handleOf(stream));
    library_.release();
    if (status != 0 && library_.failure())
        return std::unexpected(*library_.failure());
    if (auto done = successOf(status, "forward"); !done)
        return done;
    for (std::size_t i = 0; i < makes_.size(); ++i)
        values.insert_or_assign(makes_[i], outputs[i]);
    return {};
}

} // namespace kernelskill::engine::graph
