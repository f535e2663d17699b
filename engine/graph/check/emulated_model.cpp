#include "engine/graph/check/emulated_model.h"

#include "analysis/parse/translation_unit.h"
#include "analysis/raise/cost.h"
#include "analysis/syntax/scalar_bytes.h"
#include "engine/graph/model/kernel_file.h"
#include "engine/storage/temporary_folder.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <memory>
#include <utility>

namespace kernelskill::engine::graph {

namespace {

using analysis::raise::Buffer;
using analysis::raise::Index;
using analysis::raise::LibraryCall;

class ModelRun {
public:
    ModelRun(const ModelPlan& plan, const std::map<std::string, std::int64_t>& sizes,
             BufferMemory& memory, Executor& executor, const analysis::Toolchain& toolchain,
             std::stop_token stop)
        : plan_(plan), sizes_(sizes), memory_(memory), executor_(executor), toolchain_(toolchain),
          stop_(std::move(stop)) {}

    Result<void> run() {
        memory_.resize(plan_.program.buffers.size());
        auto folder =
            TemporaryFolder::make(std::filesystem::temp_directory_path(), "kernelskill-model-");
        if (!folder)
            return std::unexpected(
                Error{ErrorKind::Failed, "cannot create a folder for temporary files", "", ""});
        folder_ = folder->path();
        for (const ModelStep& step : plan_.steps) {
            if (stop_.stop_requested())
                return std::unexpected(
                    Error{ErrorKind::Cancelled, "stopped before all kernels had run", "", ""});
            if (const auto* call = std::get_if<LibraryCall>(&step.work)) {
                if (!isGiven(*call))
                    return std::unexpected(
                        Error{ErrorKind::Unsupported,
                              fmt::format("{} is left to a library: {}", call->node, call->reason),
                              "", ""});
                continue;
            }
            if (auto done = run(std::get<Kernel>(step.work)); !done)
                return done;
        }
        return {};
    }

private:
    [[nodiscard]] bool isGiven(const LibraryCall& call) const {
        return std::ranges::none_of(call.outputs, [&](analysis::raise::BufferId output) {
            return memory_[output].empty();
        });
    }

    static Result<void> failure(const Kernel& kernel, const Error& error) {
        const bool isOfKernel = error.kind != ErrorKind::Cancelled &&
                                error.kind != ErrorKind::Missing &&
                                error.kind != ErrorKind::Unsupported;
        return std::unexpected(
            Error{isOfKernel ? ErrorKind::Failed : error.kind,
                  fmt::format("the kernel {}: {}", kernel.name, error.describe()), "", ""});
    }

    static Result<void> failure(const Kernel& kernel, const std::string& why) {
        return failure(kernel, Error{ErrorKind::Failed, why, "", ""});
    }

    Result<void> run(const Kernel& kernel) {
        const auto launch = launchOf(kernel);
        if (!launch)
            return std::unexpected(launch.error());
        if (launch->grid.count() == 0)
            return {};
        ProgramSource source;
        source.file = (folder_ / (kernel.name + ".cu")).string();
        source.text = kernelFile(plan_, kernel);
        source.command = analysis::translateArguments({}, folder_);
        auto model = analysis::analyzeFile(source.file, source.text, source.command, toolchain_);
        if (!model)
            return failure(kernel, model.error());
        source.model = std::make_shared<const analysis::FileModel>(std::move(*model));
        const auto found = std::ranges::find(source.model->kernels, kernel.name + "_kernel",
                                             &analysis::KernelModel::name);
        if (found == source.model->kernels.end())
            return failure(kernel, "its text defines no kernel of that name");
        const auto image = executor_.build({source, *found}, *launch, stop_);
        if (!image)
            return failure(kernel, image.error());
        Job job;
        job.launch = *launch;
        job.wantOutputs = true;
        job.limits.time = std::chrono::minutes(2);
        const auto result = executor_.run(**image, job, stop_);
        if (!result)
            return failure(kernel, result.error());
        for (const Hazard& hazard : result->profile.hazards)
            if (hazard.certain)
                return failure(kernel, fmt::format("line {}: {}", hazard.line + 1, hazard.message));
        for (const KernelParameter& parameter : kernel.parameters) {
            if (!parameter.isWritten)
                continue;
            const std::string& name = plan_.program.buffers[parameter.buffer].name;
            const auto output = std::ranges::find(result->outputs, name, &BufferContents::name);
            if (output == result->outputs.end())
                return failure(kernel, "nothing was written to " + name);
            memory_[parameter.buffer] = output->bytes;
        }
        return {};
    }

    Result<LaunchSpec> launchOf(const Kernel& kernel) const {
        LaunchSpec launch;
        launch.origin = LaunchOrigin::Captured;
        launch.kernel = kernel.name + "_kernel";
        const auto blocks = [&](std::size_t axis) {
            return static_cast<std::uint32_t>(valueOf(kernel.blocks[axis], sizes_));
        };
        launch.grid = {blocks(0), blocks(1), blocks(2)};
        launch.block = {static_cast<std::uint32_t>(kernel.threads[0]),
                        static_cast<std::uint32_t>(kernel.threads[1]),
                        static_cast<std::uint32_t>(kernel.threads[2])};
        launch.dynamicSharedBytes = kernel.sharedBytes;
        for (const KernelParameter& parameter : kernel.parameters) {
            auto buffer = argumentOf(parameter);
            if (!buffer)
                return std::unexpected(buffer.error());
            launch.arguments.emplace_back(std::move(*buffer));
        }
        for (const std::string& symbol : kernel.symbols) {
            ScalarSpec scalar;
            scalar.name = symbol;
            const std::int64_t value = sizes_.at(symbol);
            scalar.bytes.resize(sizeof value);
            std::memcpy(scalar.bytes.data(), &value, sizeof value);
            scalar.integer = value;
            launch.arguments.emplace_back(std::move(scalar));
        }
        return launch;
    }

    Result<BufferSpec> argumentOf(const KernelParameter& parameter) const {
        const Buffer& buffer = plan_.program.buffers[parameter.buffer];
        BufferSpec spec;
        spec.name = buffer.name;
        spec.element = buffer.element;
        spec.elementBytes = static_cast<std::uint32_t>(analysis::scalarBytes(buffer.element));
        spec.elements = static_cast<std::uint64_t>(valueOf(elementsOf(buffer.shape), sizes_));
        const std::vector<std::byte>& bytes = memory_[parameter.buffer];
        // Several kernels may write parts of one buffer.
        const bool isGiven = !parameter.isWritten || !bytes.empty();
        spec.isOutput = parameter.isWritten;
        spec.isInput = isGiven;
        spec.fill = Fill::Poison;
        if (!isGiven)
            return spec;
        const std::filesystem::path file = folder_ / (buffer.name + ".bytes");
        std::ofstream stream(file, std::ios::binary);
        stream.write(reinterpret_cast<const char*>(bytes.data()),
                     static_cast<std::streamsize>(bytes.size()));
        stream.close();
        if (!stream)
            return std::unexpected(
                Error{ErrorKind::Failed, fmt::format("cannot write {}", file.string()), "", ""});
        spec.fill = Fill::Captured;
        spec.captured = CapturedBytes{file.string(), "", buffer.element};
        return spec;
    }

    const ModelPlan& plan_;
    const std::map<std::string, std::int64_t>& sizes_;
    BufferMemory& memory_;
    Executor& executor_;
    const analysis::Toolchain& toolchain_;
    std::stop_token stop_;
    std::filesystem::path folder_;
};

} // namespace

std::int64_t valueOf(const Index& index, const std::map<std::string, std::int64_t>& sizes) {
    std::int64_t sum = 0;
    for (const auto& [key, term] : index.terms()) {
        std::int64_t product = term.factor;
        for (const Index::AtomRef& atom : term.atoms) {
            switch (atom->kind) {
            case Index::Atom::Kind::Size:
                product *= sizes.at(atom->name);
                break;
            case Index::Atom::Kind::Quotient:
            case Index::Atom::Kind::Remainder: {
                const std::int64_t left = valueOf(*atom->left, sizes);
                const std::int64_t right = valueOf(*atom->right, sizes);
                const std::int64_t quotient = left / right - (left % right < 0 ? 1 : 0);
                product *=
                    atom->kind == Index::Atom::Kind::Quotient ? quotient : left - quotient * right;
                break;
            }
            default:
                product = 0;
            }
        }
        sum += product;
    }
    return sum;
}

Result<void> runModel(const ModelPlan& plan, const std::map<std::string, std::int64_t>& sizes,
                      BufferMemory& memory, Executor& executor,
                      const analysis::Toolchain& toolchain, std::stop_token stop) {
    return ModelRun(plan, sizes, memory, executor, toolchain, std::move(stop)).run();
}

} // namespace kernelskill::engine::graph
