"""The operator's copy of a small installation."""

from tests.support.documents import credentials_document, destination_document, document

from onair_crds.kube.store import Store
from onair_operator.cluster.watched_kinds import KINDS


def show_store() -> Store:
    """A show with a destination, whose stream key the facade made, and a source."""
    store = Store(KINDS)
    store.update("Collection", document("sunday"))
    store.update("Project", document("show", {"collectionId": "sunday"}))
    store.update("Source", document("camera", {"collectionId": "sunday"}))
    store.update("Destination", destination_document("main", "show", "key"))
    store.update("Secret", credentials_document("key", "main"))
    store.update("Pod", document("show-run-1", labels={"onair.dev/project": "show"}))
    return store
