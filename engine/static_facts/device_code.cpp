#include "engine/static_facts/device_code.h"

#include "analysis/compile/nvrtc.h"
#include "engine/process/child_process.h"
#include "engine/static_facts/compile_job.h"
#include "engine/static_facts/compiler_messages.h"
#include "engine/static_facts/device_options.h"
#include "engine/static_facts/device_unit.h"
#include "engine/static_facts/fact_report.h"
#include "engine/static_facts/nvcc.h"
#include "engine/static_facts/reply_cache.h"
#include "engine/storage/content_hash.h"
#include "engine/unit/virtual_functions.h"

#include <algorithm>
#include <system_error>
#include <utility>

namespace kernelskill::engine {
namespace {

namespace fs = std::filesystem;

/// Part of the cache key. Changes when the meaning of a job changes.
constexpr std::string_view jobEdition = "4";

std::vector<fs::path> includeFolders(const analysis::CompileCommand& command,
                                     std::vector<fs::path> toolkitFolders) {
    for (const auto* folders : {&command.includeDirs, &command.systemIncludeDirs})
        toolkitFolders.insert(toolkitFolders.end(), folders->begin(), folders->end());
    return toolkitFolders;
}

Error notCompiledYet(std::string place) {
    return {ErrorKind::Missing, "the kernel has not been compiled yet", std::move(place),
            "profile it"};
}

/// Compiles one kernel to machine code.
class DeviceCodeMaker {
public:
    DeviceCodeMaker(KernelRef kernel, const std::vector<std::string>& templateArguments,
                    std::string architecture, const StaticFactsOptions& options,
                    std::stop_token stop)
        : kernel_(kernel), templateArguments_(templateArguments),
          architecture_(std::move(architecture)), options_(options), stop_(std::move(stop)),
          toolkitFolders_(toolkitIncludeFolders(*options.toolkit)),
          scanned_(options.program != nullptr
                       ? options.program
                       : scannedProgram(kernel.program, options.preludeInclude)),
          program_(*scanned_), cache_(options.cacheDirectory) {}

    Result<DeviceCode> run() {
        if (program_.files().empty())
            return std::unexpected(Error{
                ErrorKind::InvalidInput, "the file cannot be read", kernel_.program.file, {}});
        const auto nvcc = options_.preferNvcc ? findNvcc(*options_.toolkit) : std::nullopt;
        auto library = analysis::findNvrtc(*options_.toolkit);
        if (nvcc) {
            auto code = compiledBy(DeviceCompiler::Nvcc, *nvcc);
            if (code || code.error().kind == ErrorKind::Cancelled || !library)
                return code;
        }
        if (!library)
            return std::unexpected(std::move(library.error()));
        return compiledBy(DeviceCompiler::Nvrtc, *library);
    }

private:
    /// With virtual functions in the text, all of its device code is compiled if it can be.
    Result<DeviceCode> compiledBy(DeviceCompiler compiler, const fs::path& tool) {
        if (hasVirtualDeviceFunctions(program_)) {
            auto whole = tryAll(compiler, tool, SliceWidth::DeviceCode);
            if (whole || whole.error().kind == ErrorKind::Cancelled)
                return whole;
        }
        return tryAll(compiler, tool, SliceWidth::Needed);
    }

    /// Tries units of growing breadth, from `width` on, until one compiles.
    Result<DeviceCode> tryAll(DeviceCompiler compiler, const fs::path& tool, SliceWidth width) {
        DeviceUnitBreadth breadth;
        breadth.width = width;
        std::string firstLog;
        for (int attempt = 0;; ++attempt) {
            const auto unit = makeDeviceUnit(
                program_, kernel_, templateArguments_,
                includeFolders(kernel_.program.command, toolkitFolders_), breadth, compiler);
            auto reply = compiler == DeviceCompiler::Nvcc ? compiledByNvcc(unit, tool)
                                                          : compiledByNvrtc(unit, tool);
            if (!reply)
                return std::unexpected(reply.error());
            if (reply->succeeded)
                return codeOf(std::move(*reply));
            if (attempt == 0)
                firstLog = reply->log;
            if (!widen(breadth, attempt, compiler, reply->log))
                return std::unexpected(explained(firstLog, reply->compiler));
        }
    }

    /// Sets what to try next after `log`; returns false if there is nothing left to try.
    static bool widen(DeviceUnitBreadth& breadth, int attempt, DeviceCompiler compiler,
                      std::string_view log) {
        const auto names = undefinedDeviceNames(log);
        breadth.forced.insert(names.begin(), names.end());
        if (attempt == 0 && !names.empty())
            return true;
        if (attempt <= 1 && breadth.width == SliceWidth::Needed) {
            breadth.width = SliceWidth::DeviceCode;
            return true;
        }
        const bool headersLeft = breadth.includes == DeviceHeaderBreadth::DeviceCode &&
                                 compiler == DeviceCompiler::Nvrtc;
        if (attempt <= 2 && headersLeft) {
            breadth.includes = DeviceHeaderBreadth::AllFound;
            return true;
        }
        return false;
    }

    Result<CompileReply> compiledByNvcc(const DeviceUnit& unit, const fs::path& nvcc) {
        const NvccJob job{nvcc,          options_.toolkit->version,
                          architecture_, nvccOptions(kernel_.program.command),
                          options_.time, includeFolders(kernel_.program.command, toolkitFolders_)};
        ContentHash hash = hashOf(nvcc);
        hash.add(job.architecture);
        for (const auto& option : job.options)
            hash.add(option);
        hash.add(unit.source);
        for (const auto& header : unit.headers) {
            hash.add(header.name);
            hash.add(header.text);
        }
        return cached(hash.hex(), [&] { return compileWithNvcc(job, unit, stop_); });
    }

    Result<CompileReply> compiledByNvrtc(const DeviceUnit& unit, const fs::path& library) {
        CompileJob job;
        job.library = library.string();
        job.architecture = architecture_;
        job.request.file = program_.files().front().source.path.string();
        job.request.source = unit.source;
        job.request.headers = unit.headers;
        job.request.headers.insert(job.request.headers.end(), deviceHeaders().begin(),
                                   deviceHeaders().end());
        job.request.options = nvrtcOptions(kernel_.program.command, toolkitFolders_);
        job.request.nameExpressions = {unit.nameExpression};
        const auto text = encodeJob(job);
        ContentHash hash = hashOf(library);
        hash.add(text);
        return cached(hash.hex(), [&] { return workersReply(text); });
    }

    Result<CompileReply> workersReply(const std::string& job) {
        const auto child =
            runChild({options_.workerExecutable, {"compile-worker"}, job, options_.time}, stop_);
        if (!child) {
            auto error = child.error();
            if (error.kind == ErrorKind::Failed)
                error.what = "the GPU compiler " + error.what;
            return std::unexpected(std::move(error));
        }
        if (child->status != 0)
            return std::unexpected(
                Error{ErrorKind::Failed,
                      "the GPU compiler crashed (status " + std::to_string(child->status) + ")",
                      kernel_.program.file,
                      {}});
        return decodeReply(child->output);
    }

    /// The cached reply, else the reply of `compile`, which is then cached.
    template <typename Compile>
    Result<CompileReply> cached(const std::string& key, const Compile& compile) {
        if (const auto known = cache_.find(key)) {
            if (auto reply = decodeReply(*known))
                return reply;
        }
        if (options_.onlyCached)
            return std::unexpected(notCompiledYet(kernelPlace()));
        auto reply = compile();
        if (reply)
            cache_.store(key, encodeReply(reply));
        return reply;
    }

    static ContentHash hashOf(const fs::path& tool) {
        ContentHash hash;
        hash.add(jobEdition);
        std::error_code ignored;
        const auto real = fs::canonical(tool, ignored);
        hash.add(real.string());
        hash.add(std::to_string(fs::file_size(real, ignored)));
        hash.add(std::to_string(fs::last_write_time(real, ignored).time_since_epoch().count()));
        return hash;
    }

    Result<DeviceCode> codeOf(CompileReply reply) const {
        auto facts = factsIn(reply, {kernel_.kernel.name, architecture_,
                                     kernel_.program.command.relocatableDeviceCode});
        if (!facts) {
            facts.error().where = kernelPlace();
            return std::unexpected(std::move(facts.error()));
        }
        return DeviceCode{std::move(*facts), std::move(reply.cubin), std::move(reply.ptx)};
    }

    /// Describes the failure in the user's terms.
    Error explained(const std::string& log, const std::string& compiler) const {
        if (const auto function = unresolvedFunction(log))
            return {ErrorKind::Unsupported,
                    "the kernel calls '" + *function +
                        "', which another file defines; its registers are known after linking only",
                    kernelPlace(),
                    {}};
        const auto error = firstDeviceError(log);
        const auto place = error && !error->file.empty()
                               ? error->file + ":" + std::to_string(error->line)
                               : kernelPlace();
        return {ErrorKind::Failed,
                "the kernel does not compile with " + compiler + ": " +
                    (error ? error->text : log.substr(0, 300)),
                place,
                {}};
    }

    std::string kernelPlace() const {
        const auto& files = program_.files();
        const auto file = std::ranges::find_if(files, [&](const auto& candidate) {
            return candidate.source.path == kernel_.kernel.file;
        });
        if (file == files.end())
            return kernel_.kernel.file;
        const auto& text = file->source.text;
        const auto end = std::min<std::size_t>(kernel_.kernel.nameSpan.begin, text.size());
        return kernel_.kernel.file + ":" +
               std::to_string(1 + std::count(text.begin(),
                                             text.begin() + static_cast<std::ptrdiff_t>(end),
                                             '\n'));
    }

    KernelRef kernel_;
    const std::vector<std::string>& templateArguments_;
    std::string architecture_;
    const StaticFactsOptions& options_;
    std::stop_token stop_;
    std::vector<fs::path> toolkitFolders_;
    std::shared_ptr<const ScannedProgram> scanned_;
    const ScannedProgram& program_;
    ReplyCache cache_;
};

} // namespace

std::shared_ptr<const ScannedProgram> scannedProgram(const ProgramSource& program,
                                                     const fs::path& preludeInclude) {
    return std::make_shared<const ScannedProgram>(collectUserFiles(program, preludeInclude),
                                                  program.command.definitions);
}

Result<DeviceCode> deviceCode(KernelRef kernel, const std::vector<std::string>& templateArguments,
                              const std::string& architecture, const StaticFactsOptions& options,
                              std::stop_token stop) {
    if (auto trusted = requireTrust(kernel); !trusted)
        return std::unexpected(std::move(trusted.error()));
    if (!options.toolkit)
        return std::unexpected(Error{ErrorKind::Missing,
                                     "no CUDA toolkit was found; its compiler tells how many "
                                     "registers a kernel needs",
                                     {},
                                     "install the CUDA toolkit, or set the CUDA path"});
    if (!analysis::computeCapabilityOf(architecture) || !architecture.starts_with("sm_"))
        return std::unexpected(Error{ErrorKind::InvalidInput,
                                     "'" + architecture + "' names no architecture",
                                     {},
                                     "write sm_80, sm_90 and the like"});
    if (options.onlyCached && ReplyCache(options.cacheDirectory).isEmpty())
        return std::unexpected(notCompiledYet(kernel.kernel.file));
    return DeviceCodeMaker(kernel, templateArguments, architecture, options, std::move(stop)).run();
}

} // namespace kernelskill::engine
