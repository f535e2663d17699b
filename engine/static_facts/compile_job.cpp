#include "engine/static_facts/compile_job.h"

#include "analysis/source/json.h"
#include "engine/process/framing.h"

#include <span>

namespace kernelskill::engine {
namespace {

using nlohmann::json;

std::string dumped(const json& document) {
    return document.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string packed(const json& document) {
    std::string bytes;
    json::to_cbor(document, bytes);
    return bytes;
}

/// Parses a document and applies `read` to it. Returns `otherwise` if it is malformed or a field is
/// missing.
template <typename Value, typename Parse, typename Read>
Result<Value> decoded(std::string_view text, const Parse& parse, const Read& read,
                      Error otherwise) {
    try {
        return read(parse(text));
    } catch (const json::exception&) {
        return std::unexpected(std::move(otherwise));
    }
}

} // namespace

std::string versionText(std::string_view compiler, int version) {
    return std::string(compiler) + " " + std::to_string(version / 1000) + "." +
           std::to_string(version % 1000 / 10);
}

std::string encodeJob(const CompileJob& job) {
    json headers = json::array();
    for (const auto& header : job.request.headers)
        headers.push_back({header.name, header.text});
    return dumped({{"library", job.library},
                   {"architecture", job.architecture},
                   {"file", job.request.file},
                   {"source", job.request.source},
                   {"headers", std::move(headers)},
                   {"options", job.request.options},
                   {"names", job.request.nameExpressions}});
}

Result<CompileJob> decodeJob(std::string_view text) {
    return decoded<CompileJob>(
        text, [](std::string_view bytes) { return json::parse(bytes); },
        [](const json& document) {
            CompileJob job;
            document.at("library").get_to(job.library);
            document.at("architecture").get_to(job.architecture);
            document.at("file").get_to(job.request.file);
            document.at("source").get_to(job.request.source);
            for (const auto& header : document.at("headers"))
                job.request.headers.push_back(
                    {header.at(0).get<std::string>(), header.at(1).get<std::string>()});
            document.at("options").get_to(job.request.options);
            document.at("names").get_to(job.request.nameExpressions);
            return job;
        },
        {ErrorKind::Internal, "the job is malformed", "compile-worker", {}});
}

std::string encodeReply(const Result<CompileReply>& reply) {
    if (!reply) {
        const auto& error = reply.error();
        return packed({{"error",
                        {{"kind", static_cast<int>(error.kind)},
                         {"what", error.what},
                         {"where", error.where},
                         {"remedy", error.remedy}}}});
    }
    const auto* cubin = reinterpret_cast<const std::uint8_t*>(reply->cubin.data());
    return packed(
        {{"compiler", reply->compiler},
         {"succeeded", reply->succeeded},
         {"log", reply->log},
         {"names", reply->loweredNames},
         {"cubin", json::binary(std::vector<std::uint8_t>(cubin, cubin + reply->cubin.size()))},
         {"ptx", reply->ptx}});
}

Result<CompileReply> decodeReply(std::string_view text) {
    struct Answer {
        std::optional<Error> error;
        CompileReply reply;
    };
    auto answer = decoded<Answer>(
        text,
        [](std::string_view bytes) {
            return wire::exceedsLimits(std::as_bytes(std::span(bytes))) ? json()
                                                                        : json::from_cbor(bytes);
        },
        [](const json& document) {
            Answer result;
            if (const auto error = document.find("error"); error != document.end()) {
                const int kind = error->at("kind").get<int>();
                const bool known = kind >= 0 && kind <= static_cast<int>(ErrorKind::Internal);
                result.error = {known ? static_cast<ErrorKind>(kind) : ErrorKind::Failed,
                                error->at("what").get<std::string>(),
                                error->at("where").get<std::string>(),
                                error->at("remedy").get<std::string>()};
                return result;
            }
            document.at("compiler").get_to(result.reply.compiler);
            document.at("succeeded").get_to(result.reply.succeeded);
            document.at("log").get_to(result.reply.log);
            document.at("names").get_to(result.reply.loweredNames);
            const auto& cubin = document.at("cubin").get_binary();
            result.reply.cubin.assign(cubin.begin(), cubin.end());
            document.at("ptx").get_to(result.reply.ptx);
            return result;
        },
        {ErrorKind::Failed, "the compiler's process gave no answer", "compile-worker", {}});
    if (!answer)
        return std::unexpected(std::move(answer.error()));
    if (answer->error)
        return std::unexpected(std::move(*answer->error));
    return std::move(answer->reply);
}

} // namespace kernelskill::engine
