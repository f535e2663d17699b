#include "lsp-server/documents/document_manager.h"

#include "analysis/command/includer_search.h"
#include "analysis/source/files.h"
#include "lsp-server/documents/incremental_sync.h"
#include "lsp-server/protocol/uri.h"

#include <spdlog/logger.h>

#include <algorithm>

namespace kernelskill::lsp {

namespace {

bool isCuda(const std::filesystem::path& path, std::string_view languageId) {
    const auto extension = path.extension();
    return extension == ".cu" || extension == ".cuh" || languageId.starts_with("cuda");
}

} // namespace

std::filesystem::path pathOf(const std::string& uri) {
    if (auto path = pathFromUri(uri))
        return *path;
    std::string name;
    for (const char character : uri)
        name += std::isalnum(static_cast<unsigned char>(character)) != 0 ? character : '-';
    return std::filesystem::temp_directory_path() / "kernelskill-unsaved" / (name + ".cu");
}

DocumentManager::DocumentManager(EventLoop& loop, WorkerPool& parsers, WorkerPool& background,
                                 spdlog::logger& log, const Workspace& workspace,
                                 DocumentWorker::Callbacks callbacks)
    : loop_(loop), parsers_(parsers), background_(background), log_(log), workspace_(workspace),
      callbacks_(std::move(callbacks)) {}

void DocumentManager::open(const TextDocumentItem& item) {
    Document& document = documents_[item.uri];
    document.uri = item.uri;
    document.path = pathOf(item.uri);
    document.version = item.version;
    document.text = std::make_shared<const analysis::SourceText>(item.text);
    if (isCuda(document.path, item.languageId)) {
        if (!document.worker)
            document.worker =
                std::make_unique<DocumentWorker>(loop_, parsers_, background_, log_, callbacks_);
        parse(document, true);
    }
    parseReadersOf(document.path);
    findIncludersAgain(document.path);
}

bool DocumentManager::change(const DidChangeTextDocumentParams& params, PositionEncoding encoding) {
    const auto found = documents_.find(params.uri);
    if (found == documents_.end())
        return false;
    Document& document = found->second;
    document.text = applyContentChanges(std::move(document.text), params.contentChanges, encoding);
    document.version = params.version.value_or(document.version + 1);
    parse(document, false);
    parseReadersOf(document.path);
    return true;
}

void DocumentManager::close(const std::string& uri) {
    const auto found = documents_.find(uri);
    if (found == documents_.end())
        return;
    const std::filesystem::path path = found->second.path;
    documents_.erase(found);
    parseReadersOf(path);
    findIncludersAgain(path);
}

const Document* DocumentManager::find(const std::string& uri) const {
    const auto found = documents_.find(uri);
    return found == documents_.end() ? nullptr : &found->second;
}

const Document* DocumentManager::findPath(const std::filesystem::path& path) const {
    const auto found = std::ranges::find_if(
        documents_, [&](const auto& entry) { return entry.second.path == path; });
    return found == documents_.end() ? nullptr : &found->second;
}

std::vector<const Document*> DocumentManager::all() const {
    std::vector<const Document*> all;
    for (const auto& [uri, document] : documents_)
        all.push_back(&document);
    return all;
}

void DocumentManager::whenCurrent(const std::string& uri, DocumentWorker::SnapshotReader reader) {
    const Document* document = find(uri);
    if (document == nullptr)
        return reader(std::unexpected(
            ResponseError{ErrorCode::InvalidParams, "the document is not open: " + uri}));
    if (!document->worker)
        return reader(std::unexpected(
            ResponseError{ErrorCode::InvalidParams, "the document is not CUDA: " + uri}));
    if (!workspace_.workbench())
        return reader(std::unexpected(
            ResponseError{ErrorCode::RequestFailed, workspace_.problem().describe()}));
    document->worker->whenCurrent(std::move(reader));
}

void DocumentManager::reloadAll() {
    for (auto& [uri, document] : documents_)
        parse(document, true);
}

void DocumentManager::filesChanged(const std::vector<std::filesystem::path>& paths, bool commands) {
    if (commands)
        return reloadAll();
    for (const std::filesystem::path& path : paths) {
        if (findPath(path) == nullptr) // An open document's text counts, not the disk's.
            parseReadersOf(path);
        findIncludersAgain(path);
    }
}

void DocumentManager::parse(Document& document, bool reload, DocumentWorker::Urgency urgency) {
    if (!document.worker || !workspace_.workbench())
        return;
    document.isTrusted = workspace_.isTrusted(document.path);
    document.worker->update({document.uri, document.version, document.path,
                             workspace_.rootOf(document.path), document.text, overlay(document),
                             workspace_.compileCommands(), workspace_.workbench(),
                             document.isTrusted},
                            reload, urgency);
}

void DocumentManager::parseReadersOf(const std::filesystem::path& path) {
    for (auto& [uri, document] : documents_) {
        if (!document.worker || document.path == path || !document.worker->newest())
            continue;
        const analysis::FileModel& model = document.worker->newest()->model();
        const auto& files = model.userFiles;
        if (std::ranges::find(files, path.string()) != files.end())
            parse(document, false,
                  path == model.includer ? DocumentWorker::Urgency::Waiting
                                         : DocumentWorker::Urgency::Typing);
    }
}

void DocumentManager::findIncludersAgain(const std::filesystem::path& path) {
    const bool isHeader = analysis::isHeaderName(path);
    for (auto& [uri, document] : documents_) {
        if (!document.worker || document.path == path || !document.worker->newest())
            continue;
        const analysis::FileModel& model = document.worker->newest()->model();
        const auto& others = model.otherIncluders;
        const bool isOther = std::ranges::find(others, path.string()) != others.end();
        const bool isNew = !isHeader && model.includer != path && mayInclude(path, document);
        if (isOther || isNew)
            parse(document, true, DocumentWorker::Urgency::Waiting);
    }
}

bool DocumentManager::mayInclude(const std::filesystem::path& path,
                                 const Document& document) const {
    const std::string name = document.path.filename().string();
    if (const Document* open = findPath(path))
        return open->text->text().contains(name);
    const auto text = analysis::readFile(path);
    return text && text->contains(name);
}

analysis::UnsavedFiles DocumentManager::overlay(const Document& except) const {
    analysis::UnsavedFiles files;
    for (const auto& [uri, document] : documents_) {
        if (&document != &except)
            files.emplace(document.path.string(), document.text->text());
    }
    return files;
}

} // namespace kernelskill::lsp
