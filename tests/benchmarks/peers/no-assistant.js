// Stands in for @grafana/assistant, a button of Grafana's own site that a flame graph alone doesn't show.
export const OpenAssistantButton = () => null;
export const useAssistant = () => ({ isAvailable: false });
export const createAssistantContextItem = () => null;
